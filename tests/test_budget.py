"""One number of model rows for everything that samples."""

from functools import cache
from pathlib import Path

import pytest

import attrial
import attrial_tasks
from attrial import plugin_call, registry, testing
from attrial.budget import within
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.filling import corpus_of
from attrial.masks import Scores
from attrial.models.text import TextClassifier
from attrial.suite import read_suite
from attrial.target import Target
from attrial.value import Answer, Subject, Value, answer
from tests import tiny

ROWS = 300
SAMPLING = {  # everything that declares a budget
    *("banzhaf", "captum_kernel_shap", "captum_lime", "context_cite", "expected_gradients"),
    *("input_marginalisation", "kernel_shap", "lime", "reagent", "shap_kernel", "shap_partition"),
    *("shap_permutation", "shapley", "shapley_interactions", "smooth_grad", "sobol"),
}
FREE = {"random"}  # draws, and asks nothing
N = 34  # players
WHOLE = {  # what is asked of 300 rows where a method can't ask for single rows
    "expected_gradients": 2 * 149 + 1,  # a baseline and a point each, and the input
    "input_marginalisation": 1 + 8 * N,  # every player is drawn for alike often
    "shap_permutation": 4 * (2 * N + 1),  # orders there and back
    "shapley": 2 + 4 * 2 * (N - 1),  # orders with their reverse
    "sobol": 8 * (N + 1),  # sets with all their neighbours
}


@cache
def it() -> tuple[TextClassifier, Example]:
    c = tiny.classifier(batch_tokens=2048)
    x = c.encode("long", [" ".join(2 * [tiny.OTHERS[2]])])
    assert x.n == N
    return c.filled_by(corpus_of([x])), x


def attempt(call: str) -> Answer[Scores]:
    c, x = it()
    return answer(Value(c), [(Subject(x, "mask", Target(0)), plugin_call.method(call)(x, 0))])[0]


def constants(name: str) -> dict[str, object]:
    return registry.declared(registry.plugin("methods", name)).constants


def test_every_method_that_draws_has_a_budget() -> None:
    draws = {name for name in registry.plugins("methods") if constants(name).get("STOCHASTIC")}
    assert draws - FREE == SAMPLING
    assert {name for name in registry.plugins("methods") if "BUDGET" in constants(name)} == SAMPLING


@pytest.mark.parametrize("name", sorted(SAMPLING))
def test_a_budget_is_kept_and_spent(name: str) -> None:
    got = attempt(within(name, ROWS))
    asked = got.cost.rows + got.cost.slopes
    assert got.result is not None
    assert asked == WHOLE.get(name, ROWS)
    assert 0.8 * ROWS <= asked <= ROWS


@pytest.mark.parametrize("name", sorted(SAMPLING))
def test_twice_the_budget_is_twice_the_rows(name: str) -> None:
    """So that a budget that is ignored can't pass by chance."""
    small, large = (attempt(within(name, rows)).cost for rows in (ROWS // 2, ROWS))
    assert (large.rows + large.slopes) / (small.rows + small.slopes) == pytest.approx(2, rel=0.05)


def test_few_players_are_asked_about_no_more_than_there_is() -> None:
    """All sets, or the whole tree of halves, may be less than a budget."""
    game = testing.game(4, lambda masks: masks @ [1.0, 2.0, 3.0, 4.0])
    for name in ("shapley", "kernel_shap", "banzhaf", "sobol", "lime", "shap_kernel"):
        assert testing.attempt(within(name, ROWS), game).cost.rows == 16
    assert testing.attempt(within("shap_partition", ROWS), game).cost.rows == 12


@pytest.mark.parametrize("name", ["occlusion", "integrated_gradients", "attention", "random"])
def test_what_does_not_sample_is_as_it_was(name: str) -> None:
    assert within(name, 500) == name


def test_what_is_given_by_name_stays() -> None:
    assert within("shapley", 500) == "shapley(samples=500, exact_up_to=0)"
    assert within("shapley(samples=50)", 500) == "shapley(samples=50)"
    assert within("shapley(exact_up_to=9)", 500) == "shapley(exact_up_to=9, samples=500)"
    assert within("lime( kernel_width = None )", 500) == "lime(kernel_width=None, samples=500)"
    assert within("expected_gradients", 500) == "expected_gradients(samples=249)"


def test_a_file_of_ones_own_has_a_budget_too(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    body = "def mine(x, *, seed, draws=5):\n    '''Doc.'''\n"
    file.write_text(f"BUDGET = 'draws'\n{body}")
    assert within(str(file), 40) == f"{file}(draws=40)"
    file.write_text(f"BUDGET = 'rows'\n{body}")
    with pytest.raises(AttrialError, match="declares BUDGET = 'rows', but has no such option"):
        within(str(file), 40)


def test_a_budget_too_small_is_an_error() -> None:
    with pytest.raises(AttrialError, match="budget=9; it takes 10 rows or more"):
        within("occlusion", 9)


def test_a_run_under_a_budget_records_it(tmp_path: Path) -> None:
    board = attrial.run(
        ["planted_xor"], ["shapley", "lime(samples=50)", "occlusion"], limit=2, budget=60
    )
    args = {e.record.spec.label: e.record.spec.method.args for e in board.entries}
    assert args["shapley(samples=60, exact_up_to=0)"] == {"samples": 60, "exact_up_to": 0}
    assert args["lime(samples=50)"]["samples"] == 50
    assert "occlusion" in args


def test_what_exceeds_its_budget_is_told(tmp_path: Path) -> None:
    """Whole orders and whole sets of neighbours of many players don't fit into few rows."""
    n, rows = 20, 12
    texts = [" ".join(n * ["river"]), "river"]
    methods = ["shapley", "sobol", "lime", "shap_permutation", "occlusion", "expected_gradients"]
    board = attrial.run(
        data=texts, models=[Path(attrial_tasks.__file__).parent / "models" / "planted_keyword"],
        methods=methods, metrics=["gini"], removals=["mask"], budget=rows,
    )  # fmt: skip
    took = {"shapley": 2 + 2 * (n - 1), "sobol": 2 * (n + 1)}  # an order and its reverse; two sets
    told = [line for line in board.notices if "budget" in line]
    assert told == [
        f"texts: {name}(samples={rows}, exact_up_to=0) asked up to {most} rows of an example, "
        f"{most - rows} more than the budget of {rows}, on 1 of 2"
        for name, most in took.items()
    ]
    (least,) = [e for e in board.entries if e.record.spec.method.name == "shap_permutation"]
    assert least.trials[0].cost["rows"] == 0
    assert "less than one order of 20 players takes" in least.trials[0].reasons["gini"]
    unlimited = [e for e in board.entries if e.record.spec.label == "occlusion"]
    assert unlimited[0].trials[0].cost["rows"] == n + 1  # it draws nothing: no budget is meant


def test_a_suite_may_have_a_budget(tmp_path: Path) -> None:
    file = tmp_path / "suite.toml"
    file.write_text("budget = 200")
    assert read_suite(file).budget == 200
    file.write_text("budget = 'many'")
    with pytest.raises(AttrialError, match="budget"):
        read_suite(file)
