"""Image classifiers: patches are players, and every answer is what the plain model would give."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from attrial.ask import Attend, Relevance, Slope, Soften, Suppress
from attrial.errors import NotApplicable
from attrial.example import FIXED, Example
from attrial.masks import Floats, Masks
from attrial.models.vision import VisionClassifier
from attrial.subject import Subject
from attrial.target import Target
from tests import seen
from tests.tiny import TEETH, log_odds

each_family = pytest.mark.parametrize("family", seen.FAMILIES)
SOME = np.random.default_rng(3).random((6, 16)) < np.array(
    [[0.9], [0.8], [0.6], [0.5], [0.2], [0.1]]
)


def example(it: VisionClassifier, seed: int = 0) -> Example:
    return it.see("x", seen.picture(seed))


def kept(it: VisionClassifier, x: Example, masks: Masks, removal: str = "mean") -> Floats:
    (found,) = it.keep([(Subject(x, removal, Target(0)), masks)])
    return found


def plain(family: str, images: Tensor) -> Floats:
    with torch.no_grad():
        return np.asarray(seen.model(family)(pixel_values=images).logits.double().numpy())


@each_family
def test_models_have_teeth(family: str) -> None:
    assert float(seen.moves(seen.model(family)).abs().median()) >= TEETH


@each_family
def test_whole_images_give_the_plain_models_outputs(family: str) -> None:
    it = seen.classifier(family)
    x = example(it)
    assert (x.n, len(x.ids)) == (16, seen.PREFIX[family] + 16)
    assert (x.owner == FIXED).sum() == seen.PREFIX[family]
    found = kept(it, x, np.ones((1, 16), bool))
    np.testing.assert_allclose(found, plain(family, seen.pixels()), atol=1e-5)
    assert np.abs(found - plain(family, seen.pixels().flip(-1))).max() > 1e-3  # left is not right
    assert it.predict([x]) == [int(plain(family, seen.pixels()).argmax())]


@each_family
def test_mean_is_a_grey_patch(family: str) -> None:
    it = seen.classifier(family)
    images = torch.cat([seen.greyed(seen.pixels(), np.flatnonzero(~row).tolist()) for row in SOME])
    found, wanted = kept(it, example(it), SOME), plain(family, images)
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    wrong = kept(it, example(it), SOME[:, ::-1])
    assert np.abs(wrong - wanted).max() > 1e-2


def test_blur_is_the_blurred_image_where_patches_are_gone() -> None:
    it = seen.classifier()
    image = seen.pixels()[0].double()
    at = torch.arange(-8, 9).double()
    weight = torch.exp(-(at**2) / (2 * (0.5 * seen.PATCH) ** 2))
    weight = weight / weight.sum()
    wide = nn.functional.pad(image[None], (8, 8, 8, 8), mode="replicate")
    down, across = weight.reshape(1, 1, 17, 1), weight.reshape(1, 1, 1, 17)
    soft = nn.functional.conv2d(wide, down.expand(3, 1, 17, 1), groups=3)
    soft = nn.functional.conv2d(soft, across.expand(3, 1, 1, 17), groups=3)
    stays = torch.from_numpy(SOME.reshape(-1, 1, 4, 4)).double()
    stays = nn.functional.interpolate(stays, scale_factor=seen.PATCH)
    images = (image * stays + soft * (1 - stays)).float()
    np.testing.assert_allclose(kept(it, example(it), SOME, "blur"), plain("vit", images), atol=1e-4)


@pytest.mark.parametrize("family", seen.DROPPING)
def test_attention_off_runs_the_model_with_fewer_tokens(family: str) -> None:
    """By hand: the layers run on the rows of the embeddings that stay."""
    it, plain_model = seen.classifier(family), seen.model(family)
    found = kept(it, example(it), SOME, "attention_off")
    body = next(m for n, m in plain_model.named_modules() if n.endswith(".embeddings"))

    def shortened(stays: list[int]) -> Floats:
        def cut(module: nn.Module, args: object, output: Tensor) -> Tensor:
            return output[:, stays]

        handle = body.register_forward_hook(cut)
        with torch.no_grad():
            out = plain_model(pixel_values=seen.pixels()).logits.double().numpy()
        handle.remove()
        return np.asarray(out[0])

    prefix = list(range(seen.PREFIX[family]))
    wanted = [shortened([*prefix, *(np.flatnonzero(row) + len(prefix)).tolist()]) for row in SOME]
    np.testing.assert_allclose(found, np.stack(wanted), atol=1e-5)
    assert np.abs(found - kept(it, example(it), SOME)).max() > 1e-2  # not the same as greying


@pytest.mark.parametrize("family", ["beit", "swin"])
def test_what_needs_whole_images_says_so(family: str) -> None:
    it = seen.classifier(family)
    assert it.removals == ("blur", "mean", "zero")
    with pytest.raises(
        NotApplicable, match="takes whole images only; this model can do blur, mean"
    ):
        kept(it, example(it), SOME, "attention_off")


@pytest.mark.parametrize("removal", ["mask", "pad", "unk", "delete", "infill"])
def test_removals_of_text_name_those_of_images(removal: str) -> None:
    it = seen.classifier()
    with pytest.raises(NotApplicable, match=r"this model can do attention_off, blur, mean, zero$"):
        kept(it, example(it), SOME, removal)


@each_family
def test_zero_is_a_patch_embedding_of_zeros(family: str) -> None:
    it, plain_model = seen.classifier(family), seen.model(family)
    stays = torch.from_numpy(SOME).float()[:, :, None]

    def fade(module: nn.Module, args: object, output: object) -> object:
        if isinstance(output, tuple):
            return (output[0] * stays, *output[1:])
        assert isinstance(output, Tensor)
        return output * stays

    plain_model.get_input_embeddings().register_forward_hook(fade)
    with torch.no_grad():
        wanted = plain_model(pixel_values=seen.pixels().repeat(len(SOME), 1, 1, 1)).logits
    np.testing.assert_allclose(kept(it, example(it), SOME, "zero"), wanted.numpy(), atol=1e-5)


@each_family
def test_company_and_order_change_no_bit(family: str) -> None:
    it, removal = seen.classifier(family), "attention_off" if family in seen.DROPPING else "mean"
    x, y = example(it), example(it, 1)
    alone = kept(it, x, SOME, removal)
    _, crowd = it.keep(
        [(Subject(y, removal, Target(0)), SOME), (Subject(x, removal, Target(0)), SOME)]
    )
    assert np.array_equal(alone, crowd)
    assert np.array_equal(alone[::-1], kept(it, x, SOME[::-1], removal))
    assert np.array_equal(alone[2:3], kept(it, x, SOME[2:3], removal))


@each_family
def test_slope_is_autograd_by_hand(family: str) -> None:
    it, plain_model = seen.classifier(family), seen.model(family)
    x, layer = example(it), plain_model.get_input_embeddings()
    points = np.stack([np.ones(16), np.linspace(0, 1, 16)])
    (found,) = it.slope([(Subject(x, "mean", Target(0)), Slope(points, "mean"))])
    with torch.no_grad():
        first, last = (layer(i) for i in (torch.zeros_like(seen.pixels()), seen.pixels()))
    start, end = (e[0] if isinstance(e, tuple) else e for e in (first, last))
    leaf = (start + torch.from_numpy(points).float()[:, :, None] * (end - start)).requires_grad_()

    def put(module: nn.Module, args: object, output: object) -> object:
        return (leaf, *output[1:]) if isinstance(output, tuple) else leaf

    layer.register_forward_hook(put)
    values = log_odds(plain_model(pixel_values=seen.pixels().repeat(2, 1, 1, 1)).logits)
    (gradient,) = torch.autograd.grad(values.sum(), leaf)
    p = seen.PREFIX[family]
    scale = float(gradient.abs().max())
    np.testing.assert_allclose(found.gradient[:, p:], gradient.numpy(), atol=1e-5 * max(scale, 1))
    np.testing.assert_allclose(found.difference[0, p:], (end - start)[0].numpy(), atol=1e-5)
    np.testing.assert_allclose(found.values, values.detach().numpy(), atol=1e-4)
    assert not found.difference[:, :p].any()
    assert scale > 1e-3


@pytest.mark.parametrize("family", seen.SQUARE)
def test_attention_is_what_eager_shows(family: str) -> None:
    it, plain_model = seen.classifier(family), seen.model(family)
    plain_model.set_attn_implementation("eager")
    with torch.no_grad():
        out = plain_model(pixel_values=seen.pixels(), output_attentions=True)
    wanted = torch.stack(out.attentions)[:, 0].double().numpy()
    (found,) = it.attend([(Subject(example(it), "mean", Target(0)), Attend())])
    np.testing.assert_allclose(found.weights, wanted, atol=1e-6)
    assert np.abs(wanted - 1 / wanted.shape[-1]).max() > 0.01


@pytest.mark.parametrize("family", seen.SQUARE)
def test_nothing_suppressed_and_nothing_faded_is_the_whole_image(family: str) -> None:
    it = seen.classifier(family)
    x = example(it)
    subject, whole = Subject(x, "mean", Target(0)), kept(it, x, np.ones((1, 16), bool))
    none, half = np.zeros((1, 16)), np.full((1, 16), 0.5)
    ((calm,), (less,)) = it.suppress([(subject, Suppress(none)), (subject, Suppress(half))])
    (full, empty) = it.soften([(subject, Soften(1 - none, 0)), (subject, Soften(none, 0))])
    np.testing.assert_allclose(calm, whole[0], atol=1e-5)
    np.testing.assert_allclose(full, whole, atol=1e-5)
    np.testing.assert_allclose(empty, kept(it, x, np.zeros((1, 16), bool), "zero"), atol=1e-5)
    assert np.abs(less - whole[0]).max() > 1e-3


@pytest.mark.parametrize("family", seen.DROPPING)
def test_relevance_of_patches_and_places_is_conserved(family: str) -> None:
    it = seen.classifier(family)
    subject = Subject(example(it), "mean", Target(0, "logit"))
    (found,) = it.relevance([(subject, Relevance("conservative"))])
    assert found.tokens.shape == (len(subject.example.ids),)
    assert not found.tokens[: seen.PREFIX[family]].any()
    assert np.abs(found.tokens).max() > 1e-3
