"""Methods over blocks: average ranks with their critical difference, and strengths. Pure."""

from collections.abc import Sequence
from math import isinf

from attrial.report import words
from attrial.report.account.places import grade
from attrial.report.critical_difference import critical_difference_svg
from attrial.report.parts import Cell, Drawing, Part, Table, figure, head, note, plain
from attrial.trust import Blocks, Findings
from attrial.trust.ranking import Strength


def over_blocks(found: Sequence[Blocks]) -> list[Part]:
    """Friedman's test, average ranks and cliques of each set of blocks."""
    if not found:
        return [plain("There are not enough methods and blocks to rank anybody over them.")]
    return [*(part for blocks in found for part in _blocks(blocks)), note(BLOCKS)]


BLOCKS = (
    "Friedman's test asks whether any methods differ, Iman and Davenport's F is the less timid "
    "form of it; average ranks that differ by the critical difference (Nemenyi, 5 %) are told "
    "apart. Blocks that share examples, as metrics and removals of one task do, are not "
    "independent: their p is too small. With more than five methods take ten blocks at least."
)


def _blocks(b: Blocks) -> list[Part]:
    r = b.ranking
    test = (
        f"{words.family(b.family)}, {b.blocks} blocks ({b.what}): Friedman chi-squared "
        f"{r.test.chi2:.2f}, p {grade(r.test.chi2_p)}; Iman-Davenport F {_f(r.test.f)}, p "
        f"{grade(r.test.f_p)}; Kendall's W {r.w:.2f}; critical difference {r.difference:.2f}."
    )
    parts: list[Part] = [plain(test)]
    if b.left_out:
        left_out = f"Left out, as they lack values that others have: {', '.join(b.left_out)}."
        parts.append(plain(left_out))
    return [*parts, _drawing(b), _ranks(b)]


def _drawing(b: Blocks) -> Drawing:
    r = b.ranking
    svg = critical_difference_svg(b.methods, r.ranks, r.cliques, difference=r.difference)
    return Drawing(
        svg,
        f"Critical-difference diagram, {b.blocks} blocks: bars join methods that "
        "are not told apart; the best is on the left.",
    )


def _f(value: float) -> str:
    return "infinite" if isinf(value) else f"{value:.2f}"


def _ranks(b: Blocks) -> Table:
    order = sorted(range(len(b.methods)), key=lambda i: (b.ranking.ranks[i], b.methods[i]))
    letters = _letters(b)
    rows = tuple(
        (
            Cell(b.methods[i], code=True),
            figure(b.ranking.ranks[i]),
            Cell(letters[i]),
        )
        for i in order
    )
    return Table(head("method", "average rank", "not told apart"), rows)


def _letters(b: Blocks) -> list[str]:
    return [
        "".join(_letter(k) for k, clique in enumerate(b.ranking.cliques) if i in clique)
        for i in range(len(b.methods))
    ]


def _letter(k: int) -> str:
    return chr(ord("a") + k) if k < 26 else f"({k})"


def strengths(found: Findings) -> list[Part]:
    """Bradley-Terry log strengths: methods by metrics."""
    if not found.strengths:
        return []
    metrics = list(dict.fromkeys(s.metric for s in found.strengths))
    by = {(s.method, s.metric): s for s in found.strengths}
    rows = tuple(
        (Cell(m, code=True), *(_strength(by.get((m, metric))) for metric in metrics))
        for m in found.ground.methods
    )
    removal = found.strengths[0].removal
    header = (Cell("method"), *(Cell(m, code=True) for m in metrics))
    return [
        Table(header, rows, f"Bradley-Terry log strengths, players removed by {removal}"),
        note(
            "On each example every two methods play a game; ties by Davidson. A method beats one "
            "that is 1 weaker with odds e to 1, whatever the scale of single examples. One game "
            "of prior a pair keeps strengths finite; intervals: 95 % bootstrap over examples."
        ),
    ]


def _strength(s: Strength | None) -> Cell:
    if s is None:
        return figure(None)
    return figure(s.log, after=f" [{s.low:.2f}, {s.high:.2f}]")
