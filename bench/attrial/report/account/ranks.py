"""Methods over blocks: average ranks with their critical difference, and strengths. Pure."""

from collections.abc import Sequence
from math import isinf

from attrial.report import words
from attrial.report.account.places import grade, where
from attrial.report.critical_difference import critical_difference_svg
from attrial.report.parts import Cell, Drawing, Part, Table, figure, head, listed, note, plain
from attrial.report.phrases import DASH, count
from attrial.stats import Ranking
from attrial.trust import Blocks, Findings
from attrial.trust.ranking import LEAST, Strength


def over_examples(found: Findings) -> list[Part]:
    """Ranks within examples by the metric that speaks for the task; a line for each other one."""
    if found.primary is None:
        return [plain("No metric has a value here.")]
    said = (
        f"Ranked by {found.primary.metric} ({found.primary.removal}), the first faithfulness "
        "metric that was asked for, or the first of all: it was not chosen by its outcome."
    )
    return [plain(said), *_blocks(found.primary), *_others(found.others), note(BLOCKS)]


def over_tasks(found: Sequence[Blocks]) -> list[Part]:
    """Average ranks over tasks x models, one diagram a family of metrics."""
    return [*(part for blocks in found for part in _blocks(blocks)), note(AVERAGED), note(BLOCKS)]


def mixed(kinds: Sequence[str]) -> list[Part]:
    """What a reader must know of ranks over tasks for unlike models."""
    if len(kinds) < 2:
        return []
    return [
        note(
            f"These tasks are for models of {count(len(kinds), 'kind')} ({', '.join(kinds)}), and "
            "a method is read from each in its own way. The average ranks are of this mixture, and "
            "say nothing of any one kind: the chapters of its tasks do."
        )
    ]


AVERAGED = (
    "A block is one task with one model. A method's value in it is its average rank over the "
    "metrics of the family, under the removal that methods explained under; metrics that are one "
    "another turned or shifted count once. Tasks that share data or models are still related."
)
BLOCKS = (
    "Friedman's test asks whether any methods differ, Iman and Davenport's F is the less timid "
    "form of it; average ranks that differ by the critical difference (Nemenyi, 5 %) are told "
    "apart. Metrics and removals of one task are no blocks: they share examples and say much the "
    "same, so that a test over them would find anything significant."
)


def _blocks(b: Blocks) -> list[Part]:
    parts: list[Part] = [plain(_test(b))]
    if b.same:
        twins = ", ".join(f"{metric} ({other})" for metric, other in b.same)
        parts.append(plain(f"Counted once, as they say the same as another metric: {twins}."))
    if b.left_out:
        left_out = f"Left out, as they lack values that others have: {', '.join(b.left_out)}."
        parts.append(plain(left_out))
    if b.ranking is None:
        return parts
    return [*parts, _drawing(b, b.ranking), _ranks(b, b.ranking)]


def _test(b: Blocks) -> str:
    head = f"{words.family(b.family)}, {count(b.blocks, 'block')} ({b.what})"
    if b.ranking is None:
        return f"{head}: {_nobody(b)}."
    t, r = b.ranking.test, b.ranking
    few = f" {_few(b)}" if b.few else ""
    return (
        f"{head}: Friedman chi-squared {t.chi2:.2f}, p {grade(t.chi2_p)}; Iman-Davenport F "
        f"{_f(t.f)}, p {grade(t.f_p)}; Kendall's W {r.w:.2f}; critical difference "
        f"{r.difference:.2f}.{few}"
    )


def _nobody(b: Blocks) -> str:
    """Why methods have no ranks here."""
    if len(b.methods) < 2:
        return "fewer than two methods have all values"
    return "one block ranks nobody" if b.blocks < 2 else "all methods tie in every block"


def _few(b: Blocks) -> str:
    return (
        f"With {count(len(b.methods), 'method')} it takes {LEAST} blocks at least: these p and "
        "this critical difference are approximations that do not hold yet."
    )


def _others(found: Sequence[Blocks]) -> list[Part]:
    """Every other metric as one line, without a diagram: they share the examples."""
    if not found:
        return []
    header = head("metric", "removal", "methods", "examples", "chi-squared", "p", "F", "p of F",
                  "Kendall's W", "critical difference")  # fmt: skip
    return [Table(header, tuple(_other(b) for b in found), "The same by each other metric")]


def _other(b: Blocks) -> tuple[Cell, ...]:
    out = ", ".join(b.left_out)
    methods = Cell(
        f"{len(b.methods)}{f' (without {listed(b.left_out, 2)})' if out else ''}", note=out
    )
    examples = Cell(f"{b.blocks}{' (too few)' if b.few else ''}", number=True)
    if b.ranking is None:
        return (*where(b), methods, examples, Cell(_nobody(b)), *[Cell(DASH, number=True)] * 5)
    t, r = b.ranking.test, b.ranking
    numbers = (f"{t.chi2:.2f}", grade(t.chi2_p), _f(t.f), grade(t.f_p))
    last = (figure(r.w), figure(r.difference))
    return (*where(b), methods, examples, *(Cell(n, number=True) for n in numbers), *last)


def _drawing(b: Blocks, r: Ranking) -> Drawing:
    svg = critical_difference_svg(b.methods, r.ranks, r.cliques, difference=r.difference)
    by = f" by {b.metric}" if b.metric else ""
    return Drawing(
        svg,
        f"Critical-difference diagram{by}, {count(b.blocks, 'block')} ({b.what}): bars join "
        "methods that are not told apart; the best is on the left.",
    )


def _f(value: float) -> str:
    return "infinite" if isinf(value) else f"{value:.2f}"


def _ranks(b: Blocks, r: Ranking) -> Table:
    order = sorted(range(len(b.methods)), key=lambda i: (r.ranks[i], b.methods[i]))
    letters = _letters(b, r)
    rows = tuple(
        (Cell(b.methods[i], code=True), figure(r.ranks[i]), Cell(letters[i])) for i in order
    )
    return Table(head("method", "average rank", "not told apart"), rows)


def _letters(b: Blocks, r: Ranking) -> list[str]:
    return [
        "".join(_letter(k) for k, clique in enumerate(r.cliques) if i in clique)
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
