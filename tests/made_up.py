"""Made-up records: methods of known quality on made-up examples, for tests of tables and files."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attrial import stats
from attrial.masks import Floats
from attrial.record import (
    Cell,
    Cost,
    DataSpec,
    MetricFacts,
    ModelSpec,
    PluginSpec,
    Record,
    Spec,
    Trial,
)
from attrial.store import Entry

FACTS = {
    "aopc": MetricFacts(higher_is_better=True, family="faithfulness"),
    "comprehensiveness": MetricFacts(higher_is_better=True, family="faithfulness"),
    "deletion_auc": MetricFacts(higher_is_better=False, family="faithfulness"),
    "insertion_auc": MetricFacts(higher_is_better=True, family="faithfulness"),
    "sufficiency": MetricFacts(higher_is_better=False, family="faithfulness"),
    "average_precision": MetricFacts(higher_is_better=True, family="evidence"),
    "pointing_game": MetricFacts(higher_is_better=True, family="evidence"),
    "precision_at_k": MetricFacts(higher_is_better=True, family="evidence"),
}
QUALITY = {
    "occlusion": 0.93,
    "shapley": 0.95,
    "integrated_gradients(steps=30)": 0.9,
    "input_x_gradient": 0.7,
    "gradient_norm": 0.62,
    "attention": 0.45,
    "attention_rollout": 0.25,
    "random": 0.02,
}
CONTROLS = {"best_order": 1.0, "random_order": 0.0, "worst_order": -1.0}
WORDS = "a gorgeous witty and seductive film that never quite finds its own dull tired feet".split()


@dataclass(frozen=True)
class Made:
    """What is made up: where, by whom, on how many examples."""

    task: str = "planted_keyword"
    removal: str = "mask"
    n: int = 30
    seed: int = 0
    model: str = "attrial-tiny-keyword"
    metrics: Sequence[str] = tuple(FACTS)


def spec(made: Made, label: str, *, version: int = 1) -> Spec:
    """The spec of one made-up run."""
    name, _, rest = label.partition("(")
    args: dict[str, float | str] = {"steps": int(rest[6:-1])} if rest.startswith("steps=") else {}
    control = name in CONTROLS
    return Spec(
        data=DataSpec(
            task=made.task, source="made up", digest=f"{made.task}-{made.n}", count=made.n
        ),
        model=ModelSpec(name=made.model, weights="0123456789abcdef" * 4),
        players="words",
        target="log_odds of the predicted class",
        explained_under="mask",
        removal=made.removal,
        method=PluginSpec(
            name=name,
            args=dict(args),
            version=version,
            shipped_by="" if control else "attrial 0.1.0",
        ),
        label=label,
        control=control,
        metrics={
            m: PluginSpec(name=m, shipped_by="attrial 0.1.0")
            for m in made.metrics
            if made.removal == "mask" or FACTS[m].family != "evidence"
        },
        seed=made.seed,
    )


def entry(made: Made, label: str, quality: float, *, version: int = 1) -> Entry:
    """A run whose scores agree with the truth as far as its quality says."""
    found = spec(made, label, version=version)
    trials = [trial(made, found, i, quality) for i in range(made.n)]
    return Entry(record_of(found, trials), trials)


def record_of(found: Spec, trials: Sequence[Trial]) -> Record:
    """The record that belongs to these trials."""
    rows = sum(t.cost.get("rows", 0) for t in trials)
    return Record(
        spec=found,
        facts={m: FACTS[m] for m in found.metrics},
        cells={m: cell(m, trials) for m in found.metrics},
        warnings={"truncated": 2} if found.data.task == "imdb" else {},
        cost=Cost(rows=rows, computed=rows // 2, seconds=12.5, peak_bytes=500_000_000),
        made_with={"attrial": "0.1.0", "numpy": "2.4", "python": "3.11.7", "date": "2026-01-01"},
    )


def cell(name: str, trials: Sequence[Trial]) -> Cell:
    """Mean and interval of what is defined."""
    found = [v for t in trials if (v := t.values[name]) is not None]
    normal = [v for t in trials if (v := t.normalised[name]) is not None]
    missing: dict[str, int] = {}
    for t in trials:
        if t.values[name] is None:
            missing[t.reasons[name]] = missing.get(t.reasons[name], 0) + 1
    low, high = stats.bootstrap_mean(found, seed=0) if found else (None, None)
    return Cell(
        value=float(np.mean(found)) if found else None,
        low=low,
        high=high,
        normalised=float(np.mean(normal)) if normal else None,
        n=len(found),
        undefined=missing,
    )


def trial(made: Made, found: Spec, i: int, quality: float) -> Trial:
    """One made-up example: an additive game over words, two of them evidence."""
    shared = np.random.default_rng([i, zlib.crc32(made.task.encode())])
    own = np.random.default_rng(
        [i, zlib.crc32(found.label.encode()), zlib.crc32(made.removal.encode())]
    )
    n = int(shared.integers(6, 14))
    players = [WORDS[k] for k in shared.permutation(len(WORDS))[:n]]
    truth = np.zeros(n, bool)
    truth[shared.permutation(n)[:2]] = True
    worth = shared.normal(0, 0.25, n) + 2.0 * truth
    scores = quality * worth + (1 - abs(quality)) * own.normal(0, 1.2, n)
    values, normalised = measured(found.metrics, worth, truth, scores, quality)
    reasons = {}
    if i == 1 and "sufficiency" in values and found.label == "attention":
        values["sufficiency"] = normalised["sufficiency"] = None
        reasons = {"sufficiency": "the empty input keeps the <prediction>"}
    return Trial(
        id=f"{made.task}-{i}",
        players=players,
        scores=[] if found.control else scores.tolist(),
        truth=truth.tolist(),
        target=1,
        label=1,
        truncated=40 if made.task == "imdb" and i < 2 else 0,
        values=values,
        normalised=normalised,
        reasons=reasons,
        curves={"deletion": deletion(worth, scores), "insertion": deletion(worth, -scores)[::-1]},
        notes={"completeness_gap": 0.01 * abs(float(own.normal()))},
        cost={} if found.control else {"rows": n, "computed": n // 2},
    )


def measured(
    metrics: Mapping[str, PluginSpec], worth: Floats, truth: Floats, scores: Floats, quality: float
) -> tuple[dict[str, float | None], dict[str, float | None]]:
    """Values between those of the worst and the best order, by how well the scores rank."""
    share = float(np.corrcoef(np.argsort(np.argsort(worth)), np.argsort(np.argsort(scores)))[0, 1])
    normal = {m: (1 + share) / 2 for m in metrics}
    top = set(np.argsort(-scores)[: int(truth.sum())].tolist())
    hit = sum(bool(truth[k]) for k in top) / len(top)
    normal |= {m: hit for m in metrics if FACTS[m].family == "evidence"}
    if quality == 0:  # a random order's value is its expectation
        normal = {
            m: 0.5 if FACTS[m].family == "faithfulness" else float(truth.mean()) for m in metrics
        }
    values = {m: v if FACTS[m].higher_is_better else 1 - v for m, v in normal.items()}
    return {**values}, {**normal}


def deletion(worth: Floats, scores: Floats) -> list[float]:
    """Probability of the target while the highest scored players leave one by one."""
    left = worth.sum() - np.concatenate([[0], np.cumsum(worth[np.argsort(-scores)])])
    return [float(p) for p in 1 / (1 + np.exp(2 - left))]


def entries(
    tasks: Sequence[str] = ("planted_keyword",), *, removals: Sequence[str] = ("mask",), n: int = 30
) -> list[Entry]:
    """All methods and controls on some tasks under some removals."""
    wanted = {**QUALITY, **CONTROLS}
    return [
        entry(Made(task=task, removal=removal, n=n, model=f"tiny-{task}"), label, quality)
        for task in tasks
        for removal in removals
        for label, quality in wanted.items()
    ]
