"""Parameter randomisation: an explanation must not survive the loss of what was learnt."""

from collections.abc import Sequence

import numpy as np

from attrial.check_bench import Bench, Cell, Explained, Outcome, Told, averaged, means
from attrial.checks._alike import change, each, similarity, spearman, unchanged
from attrial.errors import AttrialError

RULE = "no more"
NULL = None
DIRECTION = "lower"
UNIT = "rank correlation"
VERSION = 1
Run = Sequence[Explained]


def parameter_randomisation(
    bench: Bench, *, seed: int, order: str = "cascade", draws: int = 8, how: str = "shuffle"
) -> Outcome:
    """Compare explanations of the trained model with those of randomised ones (Adebayo 2018).

    The similarity is the greater of Spearman's correlations of s and of |s|. Its null level is the
    similarity of two models randomised independently, so that maps that an architecture makes
    alike by construction (rollout's diagonal) are not held against a method, and those that
    no parameter changes are. The class stays the one that the trained model predicts.

    Args:
        bench: The method on trial.
        seed: Of the explanations; the models are drawn from it too.
        order: ``cascade``: from the output down to the embeddings, judged where everything is
            random; the way there is reported. ``independent``: one stratum at a time, all others
            trained; judged by whether any stratum can be lost without a change.
        draws: Randomised models.
        how: ``shuffle`` each tensor's entries: sizes stay those that were learnt, so that
            the model still reacts to its input; or ``init``: as the architecture begins, where
            removing a word moves the outputs by rounding only.
    """
    if order not in ("cascade", "independent"):
        raise AttrialError(
            f"parameter_randomisation: order={order!r}; it takes cascade or independent"
        )
    if draws < 2:
        raise AttrialError(f"parameter_randomisation: draws={draws}; it takes 2 or more")
    trained = bench.explain(seed=seed)
    if order == "independent":
        return _independent(bench, trained, seed, how)
    strata = bench.altered.strata
    runs = [_run(bench, strata, seed, seed + draw, how) for draw in range(draws)]
    way = {
        f"after {strata[k - 1]}": each(
            similarity, trained, _run(bench, strata[:k], seed, seed, how)
        )
        for k in range(1, len(strata))
    }
    way |= {f"after {strata[-1]}": each(similarity, trained, runs[0])}
    way |= {"of s": _flat(trained, runs), "of |s|": _flat(_sizes(trained), list(map(_sizes, runs)))}
    return Outcome(
        [each(similarity, trained, run) for run in runs],
        [_others(runs, i) for i in range(draws)],
        means(way),
    )


def _run(bench: Bench, strata: Sequence[str], seed: int, draw: int, how: str) -> Run:
    """The method's own seed stays: what differs is the model alone."""
    return bench.explain(bench.altered.randomised(strata, seed=draw, how=how), seed=seed)


def _others(runs: Sequence[Run], i: int) -> list[Cell]:
    """Similarity of one random model to all others, example by example."""
    found = [each(similarity, runs[i], run) for j, run in enumerate(runs) if j != i]
    return [averaged(cells) for cells in zip(*found, strict=True)]


def _flat(trained: Run, runs: Sequence[Run]) -> list[Cell]:
    return [cell for run in runs for cell in each(spearman, trained, run)]


def _sizes(run: Run) -> list[Explained]:
    return [e if isinstance(e, str) else np.abs(e) for e in run]


def _independent(bench: Bench, trained: Run, seed: int, how: str) -> Outcome:
    """Each stratum alone: which of them can be lost without any change?"""
    strata = bench.altered.strata
    runs = {s: _run(bench, [s], seed, seed, how) for s in strata}
    cells = {s: each(similarity, trained, run) for s, run in runs.items()}
    blind = [s for s, run in runs.items() if unchanged(each(change, trained, run))]
    if len(blind) == len(strata):
        told = Told("fail", "no parameter changes the explanation")
    elif blind:
        told = Told("flagged", f"it does not see {', '.join(blind)}")
    else:
        told = Told("pass", "every stratum of parameters changes the explanation")
    kept = [averaged(column) for column in zip(*cells.values(), strict=True)]
    return Outcome([kept], None, means(cells), told)
