"""Numbers of families that other types, padding or a bad starting point would make senseless."""

import copy
import re
from functools import cache

import numpy as np
import pytest
import torch
from transformers import PreTrainedModel

from attrial import plugin_call
from attrial.ask import Attend
from attrial.masks import Bools, Floats, Ints, Masks
from attrial.models.embedding import table
from attrial.models.text import TextClassifier
from attrial.subject import Subject
from attrial.target import Target
from attrial.value import Value, answer
from tests import families, tiny, writers

TYPES = {"float64": torch.float64, "float16": torch.float16, "bfloat16": torch.bfloat16}
WRITERS = pytest.mark.parametrize("family", list(writers.FAMILIES))
KINKED = ("opt",)  # ReLU: the gradient jumps on the way, and quadratures halve their gap slowly
ROOTS = ("llama", "mistral", "qwen2", "qwen3", "gemma2", "phi3")  # their first norm is an RMSNorm
EXACT = 1e-5


@cache
def typed(family: str, dtype: str) -> tuple[PreTrainedModel, TextClassifier]:
    """A random classifier in another type, and the questions in front of it."""
    made = torch.nn.Module.to(copy.deepcopy(families.model(family)), TYPES[dtype])
    return made, TextClassifier.of(made, families.tokenizer(family), batch_tokens=128)


def several(c: TextClassifier) -> list[tuple[Subject, Masks]]:
    examples = [c.encode(str(i), [t]) for i, t in enumerate((families.TEXT, *families.OTHERS))]
    return [(Subject(x, "delete", Target(1)), tiny.masks(x.n, 4, seed=x.n)) for x in examples]


@pytest.mark.parametrize("dtype", list(TYPES))
@pytest.mark.parametrize("family", ["gemma2", "mistral", "modernbert", "deberta-v2"])
def test_padding_that_sees_nobody_is_finite_in_every_type(family: str, dtype: str) -> None:
    """Behind a window there are positions without a visible key: nobody may hear of them."""
    made, c = typed(family, dtype)
    rough = EXACT if dtype == "float64" else 64 * torch.finfo(TYPES[dtype]).eps
    for (subject, masks), found in zip(several(c), c.keep(several(c)), strict=True):
        rows = [subject.example.ids[kept] for kept in subject.example.to_positions(masks)]
        with torch.no_grad():
            alone = [made(input_ids=torch.tensor(row)[None]).logits[0].double() for row in rows]
        expected = torch.stack(alone).numpy()
        assert np.abs(found - expected).max() < rough * max(1.0, float(np.abs(expected).max()))
        assert np.ptp(expected) > 100 * EXACT


def test_transformers_own_eager_mask_is_not_finite_there() -> None:
    """The negative control: the padding of a double Gemma 2 makes its whole row not a number."""
    made, c = typed("gemma2", "float64")
    ids = torch.tensor([[*c.encode("x", ["a film"]).ids, *[c.forward.pad] * 12]])
    with torch.no_grad():
        out = made(input_ids=ids, attention_mask=(ids != c.forward.pad).long()).logits
    assert made.config._attn_implementation == "eager" and out.isnan().all()


def gap(family: str, call: str) -> tuple[float, float, float]:
    """What integrated gradients miss, note to have missed, and were to explain."""
    c = writers.writer(family)
    x = c.encode("x", [writers.PROMPT], options=writers.WORDS)
    subject = Subject(x, "delete", Target(0))
    (got,) = answer(Value(c), [(subject, plugin_call.method(call)(x, 0))])
    assert got.result is not None
    change = odds(family, x.ids, x.options, None) - odds(
        family, x.ids, x.options, start(family, call)
    )
    missed = abs(float(got.result.sum()) - change)
    assert missed == pytest.approx(float(got.notes["completeness_gap"]), abs=1e-4)  # type: ignore[arg-type]
    return missed, float(got.notes["converged"]), change  # type: ignore[arg-type]


def start(family: str, call: str) -> torch.Tensor:
    """The embedding that a call starts from, found by hand: unknown where padding is zero."""
    with torch.no_grad():
        pad, unk = table(writers.model(family))(torch.tensor([1, 2]))
    if "zero" in call:
        return torch.zeros_like(pad)
    return pad if pad.any() else unk  # type: ignore[no-any-return]


def odds(
    family: str,
    ids: Ints,
    options: tuple[tuple[int, ...], ...],
    instead: torch.Tensor | None,
) -> float:
    """Log-odds of the first continuation, all words but the anchor's at one embedding."""
    made = writers.model(family)

    def put(module: torch.nn.Module, args: object, output: torch.Tensor) -> torch.Tensor:
        if instead is not None:
            output[0, 1 : len(ids)] = instead
        return output

    table(made).register_forward_hook(put)
    found = writers.expected(made, ids.tolist(), options)
    return float(found[0] - np.logaddexp.reduce(found[1:]))


@WRITERS
def test_integrated_gradients_are_complete(family: str) -> None:
    missed, converged, change = gap(family, "integrated_gradients")
    assert converged and missed < 0.01 * abs(change) + 1e-4
    assert abs(change) > tiny.TEETH
    more, _, _ = gap(family, "integrated_gradients(steps=300, refine=False)")
    assert more < (0.02 if family in KINKED else 1e-4)


@pytest.mark.parametrize("family", ROOTS)
def test_under_a_root_mean_square_norm_a_zero_start_is_a_jump(family: str) -> None:
    """Why the reference is no zero embedding, as padding's is: twenty steps miss the jump there."""
    assert not table(writers.model(family))(torch.tensor([1])).any()
    from_zero, converged, _ = gap(family, "integrated_gradients(baseline='zero', refine=False)")
    ours, _, _ = gap(family, "integrated_gradients(refine=False)")
    assert not converged and from_zero > 1000 * ours


def sharp(family: str) -> TextClassifier:
    """A random classifier that attends so decidedly that most weights round to zero."""
    made = copy.deepcopy(families.model(family))
    for name, weight in made.named_parameters():
        if re.search(r"(q_proj|query|q_lin|c_attn|query_key_value)\.weight$", name):
            weight.data *= 1e5
    return TextClassifier.of(made, families.tokenizer(family), batch_tokens=128)


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "mistral", "xlnet"])
def test_uniform_rollout_goes_by_the_mask_and_not_by_weights(family: str) -> None:
    """A second derivation: what all paths through the visible keys hold, from masks by hand."""
    c = sharp(family)
    x = c.encode("x", [families.TEXT])
    subject, t = Subject(x, "delete", Target(1)), len(x.ids)
    (reply,) = c.attend([(subject, Attend(fuse="mean"))])
    calls = ("attention_rollout", "attention_rollout(null='uniform')")
    asks = [(subject, plugin_call.method(call)(x, 0)) for call in calls]
    whole, shares = (np.asarray(got.result) for got in answer(Value(c), asks))

    def by_chance(seen: Bools) -> Floats:
        """Walk back from the position that is read, two layers of half residual and half keys."""
        held = np.eye(t)[x.read]
        for keys in seen[::-1]:
            spread = [held[i] * keys[i] / keys[i].sum() for i in range(t)]
            held = 0.5 * held + 0.5 * np.sum(spread, axis=0)
        return x.to_players(held)

    width = t if families.FAMILIES[family].words != "decoder" else 0
    window = 4 if family == "mistral" else t
    keys = np.array([[i - window < j <= i + width for j in range(t)] for i in range(t)])
    expected = by_chance(np.stack([keys, keys]))
    assert shares == pytest.approx(
        np.divide(whole, expected, out=np.zeros(x.n), where=expected > 0), rel=1e-6, abs=1e-9
    )
    if family != "xlnet":  # its weights are left as they are
        by_weight = by_chance(reply.weights > 0)
        assert np.abs(by_weight - expected).max() > 1e-3  # the negative control
