"""What changes the verdict: removals, target functions, lengths, halves of the data. Pure."""

from collections.abc import Sequence
from statistics import median

from attrial.report.account.places import where
from attrial.report.parts import Bullets, Cell, Part, Table, figure, head, note, plain
from attrial.report.phrases import DASH, Phrase, Sentence, count
from attrial.trust import Change, Findings, Halves

AXES = {
    "removal": "Removal",
    "target": "Target function",
    "length": "Length",
    "half": "Odd and even examples",
}
MOST = 8  # claims that are named before the rest is counted


def changes(found: Findings) -> list[Part]:
    """A sentence for each axis, a table of agreement, and the claims that turn."""
    lines = (found.removals, found.targets, found.lengths, found.odd_even)
    if len(found.ground.methods) < 2:
        return [plain("One method alone can't be ranked, so no verdict can change.")]
    said = [_random_halves(found.halves)]
    said += [_axis(axis, told) for axis, told in zip(AXES, lines, strict=True)]
    return [Bullets(tuple(said)), _table(found), note(READ), *_turned(found)]


READ = (
    "Kendall's tau-b of the method means under the two conditions: 1 = the methods are ranked "
    "alike. Read every other column against the random halves: they differ by chance alone. "
    "An asterisk: another method has the best mean. A number after a slash: claims that all "
    "examples tell apart and that point the other way under one of the conditions."
)


def _random_halves(found: Sequence[Halves]) -> Sentence:
    taus = [h.tau for h in found if h.tau is not None]
    if not taus:
        return [Phrase("Random halves: no half ranks anybody.")]
    same = median(h.same_leader for h in found if h.same_leader is not None)
    splits = found[0].splits
    return [
        Phrase("Chance", True),
        Phrase(
            f": {splits} random halves rank the methods with tau {_range(taus)}; the same method "
            f"leads, or the same ones tie for it, in both halves in {same:.0%} of the splits that "
            "rank anybody (median over metrics)."
        ),
    ]


def _range(taus: Sequence[float]) -> str:
    low, high = min(taus), max(taus)
    if f"{low:.2f}" == f"{high:.2f}":
        return f"{low:.2f}"
    return f"{low:.2f} to {high:.2f} (median {median(taus):.2f})"


def _axis(axis: str, found: Sequence[Change]) -> Sentence:
    taus = [c.tau for c in found if c.tau is not None]
    if not taus:
        why = "no metric ranks anybody." if found else _nothing(axis)
        return [Phrase(AXES[axis], True), Phrase(f": {why}")]
    claims = sum(c.claims for c in found)
    turned = sum(len(c.turned) for c in found)
    leaders = sum(not c.same_leader for c in found)
    return [
        Phrase(AXES[axis], True),
        Phrase(
            f": tau {_range(taus)}; another method leads in {leaders} of "
            f"{count(len(found), 'comparison')}; {turned} of {count(claims, 'claim')} turn."
        ),
    ]


def _nothing(axis: str) -> str:
    return {
        "removal": "only one was tried, so nothing is known of how much depends on it.",
        "target": "the records hold no values read through the other function: they were made "
        "before such values were kept.",
        "length": "all examples have as many players, or no metric ranks anybody.",
        "half": "no half ranks anybody.",
    }[axis]


def _table(found: Findings) -> Table:
    columns = _columns(found)
    halves = {(h.metric, h.removal): h for h in found.halves}
    rows = []
    for grid in found.ground.grids:
        place = (grid.metric, grid.removal)
        cells = [_cell(by.get(place)) for _, by in columns]
        rows.append((*where(grid), _halves(halves[place]), *cells))
    header = (*head("metric", "removal", "random halves"), *(Cell(n) for n, _ in columns))
    return Table(header, tuple(rows), "How alike the methods are ranked")


Column = tuple[str, dict[tuple[str, str], Change]]


def _columns(found: Findings) -> list[Column]:
    """One column for each pair of conditions, by metric and removal."""
    told: dict[str, dict[tuple[str, str], Change]] = {}
    for c in (*found.odd_even, *found.lengths, *found.targets, *found.removals):
        told.setdefault(_title(c), {})[c.metric, c.removal] = c
    return list(told.items())


def _title(c: Change) -> str:
    if c.axis == "target":
        return "other target function"
    if c.axis == "half":
        return "odd, even"
    return (
        f"{c.here} (n = {c.n_here}), {c.there} (n = {c.n_there})"
        if c.axis == "length"
        else (f"{c.here}, {c.there}")
    )


def _halves(h: Halves) -> Cell:
    interval = "" if h.low is None else f" [{h.low:.2f}, {h.high:.2f}]"
    same = "nobody leads" if h.same_leader is None else f"same leader: {h.same_leader:.0%}"
    return figure(h.tau, shade=True, after=interval, note=same)


def _cell(c: Change | None) -> Cell:
    if c is None:
        return Cell(DASH, number=True)
    star = "" if c.same_leader else "*"
    turned = f" /{len(c.turned)}" if c.turned else ""
    return figure(c.tau, shade=True, after=star + turned, note=_note(c))


def _note(c: Change) -> str:
    here, there = (", ".join(names) for names in (c.leaders_here, c.leaders_there))
    leaders = here if here == there else f"{here}, then {there}"
    return f"best mean: {leaders}; {c.kept} of {c.claims} claims kept"


def _turned(found: Findings) -> list[Part]:
    every = (*found.removals, *found.targets, *found.lengths, *found.odd_even)
    items: list[Sentence] = [
        [Phrase(better, True), Phrase(" over "), Phrase(worse, True), Phrase(_where(c))]
        for c in every
        for better, worse in c.turned
    ]
    if not items:
        return []
    if len(items) > MOST:
        items = [*items[:MOST], [Phrase(f"And {len(items) - MOST} more claims that turn.")]]
    return [Bullets(tuple(items))]


def _where(c: Change) -> str:
    return (
        f" is told apart by {c.metric} ({c.removal}), and points the other way under one of "
        f"{c.here} and {c.there}."
    )
