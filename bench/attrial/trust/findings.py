"""Everything that a trust report says, computed from records alone. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from attrial.store import Entry
from attrial.trust import costs, evidence, leaders, methods, metrics, power, ranking, stability
from attrial.trust.ground import FIRST, Ground, grounds


@dataclass(frozen=True, eq=False)
class Findings:
    """What is found about one task with one model.

    Attributes:
        ground: What it is computed from.
        leads: Who leads on each metric.
        power: What the examples can tell on each metric.
        concords: Each faithfulness metric against known evidence.
        removals, targets, lengths, odd_even: How verdicts change.
        halves: Agreement of random halves.
        by_means, by_examples: Metric-to-metric agreement under each removal.
        taus, overlaps, signed_ranks: Method-to-method agreement.
        primary: Methods ranked over the examples, by the metric that speaks for the task; None
            where no metric of the removal explained under has a value.
        others: The same by each other metric.
        strengths: Bradley-Terry strengths under the removal that methods explained under.
        prices: Cost of each method.
        fronts: Quality against cost on each metric of faithfulness and evidence.
    """

    ground: Ground
    leads: tuple[leaders.Lead, ...]
    power: tuple[power.Power, ...]
    concords: tuple[evidence.Concord, ...]
    removals: tuple[stability.Change, ...]
    targets: tuple[stability.Change, ...]
    lengths: tuple[stability.Change, ...]
    odd_even: tuple[stability.Change, ...]
    halves: tuple[stability.Halves, ...]
    by_means: dict[str, metrics.Matrix]
    by_examples: dict[str, metrics.Matrix]
    taus: metrics.Matrix
    overlaps: metrics.Matrix
    signed_ranks: metrics.Matrix
    primary: ranking.Blocks | None
    others: tuple[ranking.Blocks, ...]
    strengths: tuple[ranking.Strength, ...]
    prices: tuple[costs.Price, ...]
    fronts: dict[str, tuple[costs.Point, ...]]


@dataclass(frozen=True, eq=False)
class Trust:
    """A whole report: each task with its model, and the methods over all of them."""

    parts: tuple[Findings, ...]
    overall: tuple[ranking.Blocks, ...]


def trust(entries: Sequence[Entry]) -> Trust:
    """Everything that the records tell about how far they can be trusted."""
    found = grounds(entries)
    families = list(dict.fromkeys(name for ground in found for name in ground.families))
    overall = [ranking.over_tasks(found, name) for name in families]
    return Trust(
        tuple(_findings(ground) for ground in found),
        tuple(blocks for blocks in overall if blocks is not None),
    )


def _findings(ground: Ground) -> Findings:
    grids = ground.grids
    own = [g for g in grids if g.removal == ground.spec.explained_under]
    panels = {r: [g for g in grids if g.removal == r] for r in ground.removals}
    prices, first = costs.prices(ground), ranking.primary(ground)
    return Findings(
        ground=ground,
        leads=tuple(leaders.lead(g) for g in grids),
        power=tuple(power.power(g) for g in grids),
        concords=tuple(evidence.concords(ground)),
        removals=tuple(stability.removals(ground)),
        targets=tuple(stability.targets(ground)),
        lengths=tuple(stability.lengths(ground)),
        odd_even=tuple(stability.odd_even(ground)),
        halves=tuple(stability.halves(g) for g in grids),
        by_means={r: metrics.of_means(found) for r, found in panels.items()},
        by_examples={r: metrics.of_examples(found) for r, found in panels.items()},
        taus=methods.taus(ground),
        overlaps=methods.overlaps(ground),
        signed_ranks=methods.signed_ranks(ground),
        primary=None if first is None else ranking.over_examples(first),
        others=tuple(ranking.over_examples(g) for g in grids if g is not first),
        strengths=tuple(s for g in own if g.family == FIRST for s in ranking.strengths(g)),
        prices=tuple(prices),
        fronts={g.metric: tuple(costs.front(g, prices)) for g in own if g.family in FRONTS},
    )


FRONTS = (FIRST, evidence.EVIDENCE)  # families whose means say how good a method is
