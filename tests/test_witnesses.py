"""Third witnesses: other people's libraries, called on the model themselves, against our methods.

Maximum flow by networkx is in ``test_replicates``.
"""

import warnings
from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
import torch
from captum import attr
from scipy.cluster.hierarchy import linkage

from attrial import plugin_call, testing
from attrial.example import Example
from attrial.games import Game
from attrial.interactions import read
from attrial.masks import Floats, Masks, Scores
from attrial.models.text import TextClassifier
from attrial.target import Target
from attrial.value import Subject, Value, answer
from tests import tiny

with warnings.catch_warnings():
    warnings.simplefilter("ignore", PendingDeprecationWarning)
    import shap

TEXT = "the plot is brighter and not good"
EXACT = 1e-9
CAPTUM = 5e-6  # it adds 720 orders up in float32


@cache
def classifier() -> tuple[TextClassifier, Example]:
    it = TextClassifier.of(tiny.model("bert").double(), tiny.tokenizer(), batch_tokens=256)
    return it, it.encode("x", [TEXT])


def attribute(call: str, *, seed: int = 0) -> Scores:
    it, x = classifier()
    asker = plugin_call.method(call)(x, seed)
    (got,) = answer(Value(it), [(Subject(x, "mask", Target(0)), asker)])
    assert got.result is not None
    return got.result


def odds(ids: torch.Tensor) -> torch.Tensor:
    """The target by transformers alone: (k, t) ids -> (k,)."""
    return tiny.log_odds(model()(input_ids=ids).logits)


@cache
def model() -> torch.nn.Module:
    made: torch.nn.Module = tiny.model("bert").double()
    return made


def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids, and the same with a mask token at every player's position: (1, t)."""
    x = classifier()[1]
    ids = torch.tensor(x.ids)[None]
    return ids, torch.where(torch.from_numpy(x.owner >= 0), tiny.tokenizer().mask_token_id, ids)


def masked(keep: torch.Tensor) -> torch.Tensor:
    """The target where only some players stay, by transformers alone: (k, n) -> (k,)."""
    (ids, hidden), owner = inputs(), classifier()[1].owner
    stays = torch.cat([keep.bool(), torch.ones(len(keep), 1, dtype=torch.bool)], dim=1)
    with torch.no_grad():
        return odds(torch.where(stays[:, owner], ids, hidden))


def ones() -> torch.Tensor:
    return torch.ones((1, classifier()[1].n), dtype=torch.float64)


@pytest.mark.parametrize(
    ("quadrature", "theirs", "points", "share"),
    [
        ("gauss_legendre", "gausslegendre", 6, 1.0),
        ("midpoint", "riemann_middle", 6, 1.0),
        # captum counts a trapezoid's 7 points, and weighs the 5 inner ones 1/7 instead of 1/6
        ("trapezoid", "riemann_trapezoid", 7, 6 / 7),
    ],
)
def test_integrated_gradients_are_captums_on_the_embedding_layer(
    quadrature: str, theirs: str, points: int, share: float
) -> None:
    """One quadrature on both sides: agreement to rounding, at a coarse number of steps too."""
    words = model().get_submodule("bert.embeddings.word_embeddings")
    ids, hidden = inputs()
    found = attr.LayerIntegratedGradients(odds, words).attribute(
        ids, hidden, n_steps=points, method=theirs
    )
    expected = classifier()[1].to_players(found.detach().sum(-1)[0].numpy()) / share
    call = "integrated_gradients(baseline='mask', steps=6, refine=False, quadrature={!r})"
    np.testing.assert_allclose(attribute(call.format(quadrature)), expected, atol=1e-7)
    other = attribute(call.format("left"))
    assert np.abs(other - expected).max() > 1e-3  # so that the tolerance has teeth


def test_shapley_values_are_captums_over_all_orders() -> None:
    values = np.asarray(table(6))

    def value(rows: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(values[(rows.numpy() > 0.5) @ (1 << np.arange(6))])

    full = torch.ones((1, 6), dtype=torch.float64)
    expected = attr.ShapleyValues(value).attribute(full, perturbations_per_eval=6)[0].numpy()
    for call in ("shapley", "kernel_shap", "shapley_interactions", "shap_kernel"):
        np.testing.assert_allclose(attribute_game(call, values), expected, rtol=0, atol=CAPTUM)


def test_sampled_shapley_values_are_captums_within_their_noise() -> None:
    """Means over as many orders: they differ as two means of so many draws do."""
    orders, n = 1500, classifier()[1].n
    with torch.random.fork_rng():
        torch.manual_seed(0)
        theirs = attr.ShapleyValueSampling(masked).attribute(
            ones(), n_samples=orders, perturbations_per_eval=n
        )[0]
    exact = attribute("shapley")
    spread = theirs.numpy() - exact
    assert np.abs(spread).max() < 0.02 < 0.1 < np.abs(exact).max()
    for call in ("shapley(samples=120, exact_up_to=0)", "kernel_shap(samples=100)"):
        assert np.abs(attribute(call) - theirs.numpy()).max() < 0.15


def table(n: int) -> Floats:
    return np.asarray(np.random.default_rng(n).normal(size=2**n))


def game_of(values: Floats) -> Game:
    n = len(values).bit_length() - 1
    return testing.game(n, lambda masks: values[masks @ (1 << np.arange(n))])


def attribute_game(call: str, values: Floats) -> Scores:
    return testing.attribute(call, game_of(values))


def test_shapley_values_are_shaps_exact_explainers() -> None:
    values = table(8)

    def value(rows: Masks) -> Floats:
        return np.asarray(values[(rows > 0.5) @ (1 << np.arange(8))])

    explainer = shap.explainers.Exact(value, np.zeros((1, 8)))
    expected = explainer(np.ones((1, 8)), max_evals=2**9).values[0]
    for call in ("shapley", "kernel_shap", "shapley_interactions", "shap_kernel"):
        np.testing.assert_allclose(attribute_game(call, values), expected, atol=EXACT)


def pairwise(n: int) -> Callable[[npt.ArrayLike], Floats]:
    """A value to which players add alone and in pairs."""
    rng = np.random.default_rng(n)
    own, pairs = rng.normal(size=n), np.triu(rng.normal(size=(n, n)), 1)

    def value(rows: npt.ArrayLike) -> Floats:
        z = (np.asarray(rows) > 0.5).astype(float)
        return np.asarray(z @ own + np.einsum("ki,ij,kj->k", z, pairs, z))

    return value


def test_interactions_are_shaps_exact_explainers_where_pairs_interact() -> None:
    """shap's index is the Shapley-Taylor one: equal where no three players interact.

    It halves what a pair adds between its two cells.
    """
    value = pairwise(7)
    explainer = shap.explainers.Exact(value, np.zeros((1, 7)))
    expected = explainer(np.ones((1, 7)), max_evals=2**8, interactions=True).values[0]
    got = testing.attempt("shapley_interactions", testing.game(7, value))
    ours = read(got.notes, 7)
    assert ours is not None
    halved = ours / 2 + np.diag(np.diag(ours)) / 2
    np.testing.assert_allclose(halved, expected, atol=EXACT)


def test_the_partition_explainer_gives_shapley_values_where_pairs_interact() -> None:
    """Owen values are Shapley values then, whatever the tree: shap's tree is another than ours."""
    value, points = pairwise(8), np.random.default_rng(0).normal(size=(20, 8))
    masker = shap.maskers.Partition(np.zeros((1, 8)), clustering=linkage(points.T, "average"))
    explainer = shap.explainers.Partition(value, masker)
    expected = explainer(np.ones((1, 8)), max_evals=2000, silent=True).values[0]
    game = testing.game(8, value)
    for call in ("shapley", "shap_partition", "shap_permutation"):
        np.testing.assert_allclose(testing.attribute(call, game), expected, atol=EXACT)


def test_occlusion_is_captums_on_the_masked_text() -> None:
    ablated = attr.FeatureAblation(masked).attribute(ones())[0].numpy()
    np.testing.assert_allclose(attribute("occlusion"), ablated, atol=EXACT)
    assert np.abs(ablated).max() > tiny.TEETH
    np.testing.assert_allclose(attribute("captum_feature_ablation"), ablated, atol=EXACT)
