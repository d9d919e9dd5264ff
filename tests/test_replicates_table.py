"""Every method has a second derivation, and none says the same as another unless it must."""

import ast
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from attrial import plugin_call, registry
from tests.test_replicates import EXACT, attempt, attribute
from tests.test_replicates import table as values_of_sets

OURS = "attrial_methods."
HERE = Path(__file__).parent
METHODS = [n for n, p in registry.plugins("methods").items() if p.module.startswith(OURS)]
CONTROLS = {"constant", "position", "random"}
# Where each method is derived again, slow and plain: a file of this folder and a test in it that
# names the method (or whose file does, where tests share a table of calls). A method that is added
# needs a line here.
REPLICATED: dict[str, tuple[str, str]] = {
    "alti": ("test_replicates_layers", "test_layers"),
    "atman": ("test_interventions", "test_atman_is_the_drop_of_each_suppression"),
    "attention": ("test_replicates", "test_rollout_is_a_sum_over_paths"),
    "attention_attribution": ("test_replicates", "test_attention_attribution"),
    "attention_flow": ("test_replicates", "test_flow_by_networkx"),
    "attention_grad_cam": ("test_replicates", "test_attention_and_its_gradients"),
    "attention_norm": ("test_replicates_layers", "test_layers"),
    "attention_rollout": ("test_replicates", "test_rollout_is_a_sum_over_paths"),
    "attention_x_gradient": ("test_replicates", "test_attention_and_its_gradients"),
    "banzhaf": ("test_replicates", "test_values_of_sets"),
    "captum_deep_lift": (
        "test_captum",
        "test_deep_lift_of_a_classifier_is_the_librarys_on_its_embeddings",
    ),
    "captum_feature_ablation": ("test_captum", "test_it_is_the_library_with_its_defaults"),
    "captum_integrated_gradients": (
        "test_captum",
        "test_integrated_gradients_come_from_questions_exactly",
    ),
    "captum_kernel_shap": ("test_captum", "test_it_is_the_library_with_its_defaults"),
    "captum_lime": ("test_captum", "test_it_is_the_library_with_its_defaults"),
    "chefer": ("test_replicates", "test_attention_and_its_gradients"),
    "context_cite": ("test_methods_sampled", "test_sampled_context_cite_is_scikit_learn_s_lasso"),
    "expected_gradients": ("test_replicates", "test_expected_gradients"),
    "gradient_norm": ("test_replicates", "test_gradients"),
    "gradient_sum_abs": ("test_replicates", "test_gradient_sum_behind_the_norm_on_the_embeddings"),
    "input_marginalisation": ("test_replicates_drawn", "test_input_marginalisation"),
    "input_x_gradient": ("test_replicates", "test_gradients"),
    "integrated_gradients": ("test_replicates", "test_integrated_gradients"),
    "kernel_shap": ("test_replicates", "test_values_of_sets"),
    "lime": ("test_methods_sampled", "test_sampled_lime_is_scikit_learn_s_ridge"),
    "lrp_attention": ("test_replicates_layers", "test_relevance"),
    "lrp_conservative": ("test_replicates_layers", "test_relevance"),
    "occlusion": (
        "test_replicates",
        "test_sequential_integrated_gradients_are_occlusion_by_the_mask",
    ),
    "reagent": ("test_replicates_drawn", "test_reagent"),
    "sequential_integrated_gradients": (
        "test_replicates",
        "test_sequential_integrated_gradients_are_occlusion_by_the_mask",
    ),
    "shap_kernel": ("test_library", "test_shap_is_efficient"),
    "shap_partition": ("test_library", "test_shap_partition_is_owens_value_of_halves"),
    "shap_permutation": ("test_library", "test_shap_is_exact_where_pairs_interact"),
    "shapley": ("test_replicates", "test_values_of_sets"),
    "shapley_interactions": (
        "test_interactions",
        "test_it_is_the_mean_over_orders_in_which_a_pair_joins_as_one",
    ),
    "smooth_grad": ("test_replicates", "test_smooth_grad"),
    "sobol": ("test_replicates", "test_values_of_sets"),
    "value_zeroing": ("test_replicates_layers", "test_layers"),
}
ALIKE = [  # by their definitions, up to quadrature and rounding
    {"kernel_shap", "shapley"},  # all sets are asked
    {"kernel_shap", "shap_kernel"},
    {"kernel_shap", "shapley_interactions"},
    {"shap_kernel", "shapley"},
    {"shap_kernel", "shapley_interactions"},
    {"shapley", "shapley_interactions"},  # its scores are a player's own share with its pairs'
    {"occlusion", "sequential_integrated_gradients"},
    {"captum_feature_ablation", "occlusion"},
    {"captum_feature_ablation", "sequential_integrated_gradients"},
]


def test_every_method_is_in_the_table() -> None:
    assert sorted(REPLICATED) == sorted(set(METHODS) - CONTROLS)


@pytest.mark.parametrize("name", REPLICATED)
def test_the_test_is_there_and_names_the_method(name: str) -> None:
    file, test = REPLICATED[name]
    text = (HERE / f"{file}.py").read_text()
    functions = {f.name for f in ast.walk(ast.parse(text)) if isinstance(f, ast.FunctionDef)}
    assert test in functions
    strings = [n.value for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Constant)]
    assert any(str(s).split("(")[0] == name for s in strings)


def test_no_two_methods_say_the_same() -> None:
    units = {}
    for name in METHODS:
        scores = attribute(name)
        units[name] = scores / np.linalg.norm(scores)
    alike = [
        {a, b}
        for a, b in combinations(METHODS, 2)
        if np.allclose(units[a], units[b], rtol=0, atol=1e-4)
    ]
    assert sorted(map(sorted, alike)) == sorted(map(sorted, ALIKE))


def test_the_scores_compared_here_are_far_from_zero() -> None:
    for name in METHODS:
        assert np.abs(attribute(name)).max() > 1e4 * EXACT, name


@pytest.mark.parametrize("family", ["bert", "albert", "electra", "distilbert"])
def test_a_layer_norm_on_the_embeddings_leaves_no_sum_of_gradients(family: str) -> None:
    got = attempt("gradient_sum_abs(at='words')", family=family)
    assert got.result is None and got.undefined is not None
    assert "layer norm" in got.undefined
    behind = attempt("gradient_sum_abs", family=family)
    assert behind.result is not None and behind.result.max() > 0.01


ADDITIVE = [
    n for n in METHODS if registry.declared(registry.plugin("methods", n)).constants["ADDITIVE"]
]


@pytest.mark.parametrize("name", ADDITIVE)
def test_additive_methods_note_how_far_their_sum_misses(name: str) -> None:
    """On sets of players it is v(all) - v(none); on ways from a baseline the way's two ends."""
    got = attempt(name)
    assert got.result is not None
    gap = got.notes["completeness_gap"]
    assert isinstance(gap, float) and gap >= 0
    if "slope" not in plugin_call.method(name).asks:
        v, n = values_of_sets(), len(got.result)
        change = v[frozenset(range(n))] - v[frozenset()]
        assert gap == pytest.approx(abs(got.result.sum() - change), abs=EXACT)
