"""Who leads, how surely, and what so many examples can tell. Pure."""

from collections.abc import Sequence

from attrial.report import words
from attrial.report.account.places import grade, heading, where
from attrial.report.gaps import gaps
from attrial.report.parts import (
    Bullets,
    Cell,
    Heading,
    Part,
    Table,
    figure,
    head,
    listed,
    note,
    plain,
    spread,
)
from attrial.report.phrases import DASH, Phrase, Sentence, count
from attrial.report.tables import Section
from attrial.trust import Concord, Findings, Lead, Power


def told(section: Section, start: str = "") -> list[Sentence]:
    """The verdict of every table: who leads, who is no better than a random order."""
    said: list[Sentence] = []
    for table in section.tables:
        sentence: Sentence = [Phrase(f"{start}{heading(table.removal, table.family)}: ")]
        for more in words.verdict(table):
            sentence += [*more, Phrase(" ")]
        said.append(sentence[:-1])
    return said


def verdict(section: Section, found: Findings) -> list[Part]:
    """The verdict of every table in a sentence, then the leader of every metric in numbers."""
    return [
        Bullets(tuple(told(section))),
        Table(
            head("metric", "removal", "best mean", "95 %", "level with it", "margin over the next",
                 "p", "not better than random"),
            tuple(_lead(lead) for lead in found.leads),
            "Who leads on each metric, and how surely",
        ),
        note(
            "Best mean: all names whose means are level. Level with it: no method is told to be "
            "better than these either. A method with values on fewer examples than another does "
            "not lead. Intervals: 95 % percentile bootstrap over examples. The margin is over the "
            "next best mean, on common examples. p is of that pair by a sign-flip test, with "
            "Holm's correction over all pairs; the margin's interval is not adjusted, so it may "
            "exclude 0 where p tells nothing apart. Not better than random: sign-flip tests "
            "against a random order, Holm over the methods."
        ),
    ]  # fmt: skip


def _lead(lead: Lead) -> tuple[Cell, ...]:
    margin = figure(lead.margin, digits=3, after=spread(lead.margin_low, lead.margin_high))
    return (
        *where(lead),
        Cell(listed(lead.leaders, 3), code=len(lead.leaders) == 1, note=", ".join(lead.leaders)),
        figure(lead.value, digits=3, after=spread(lead.low, lead.high)),
        Cell(listed(lead.level) + _partial(lead), note=", ".join(lead.level)),
        margin if lead.runner_up else Cell(DASH),
        Cell(DASH if lead.p is None else grade(lead.p), number=True),
        _not_better(lead),
    )


def _partial(lead: Lead) -> str:
    """Who has values on fewer examples than others, so that it doesn't lead."""
    told = [f"{name} ({n} of {lead.examples})" for name, n in lead.partial]
    return f"; on fewer examples: {listed(told)}" if told else ""


def _not_better(lead: Lead) -> Cell:
    if lead.not_better is None:
        return Cell("no random order here")
    return Cell(listed(lead.not_better) if lead.not_better else "none")


def missing(section: Section) -> list[Part]:
    """What is undefined or not applicable, with reasons."""
    said = [
        [Phrase(f"{heading(table.removal, table.family)}: "), *sentence]
        for table in section.tables
        for sentence in gaps(table)
    ]
    if not said:
        return [plain("Every cell of this board is defined on every example.")]
    return [Bullets(tuple(said))]


def evidence(found: Sequence[Concord]) -> list[Part]:
    """Whether metrics put on top what known evidence does."""
    if not found:
        return [
            plain(
                "No evidence is known on this task: nothing here says which metric is right. Tasks "
                "with known evidence (attrial list tasks) do."
            )
        ]
    return [_concord_sentence(found), _concord_table(found), note(CONCORD)]


CONCORD = (
    "Kendall's tau-b of the method means, each metric turned so that higher is better: 1 = the "
    "methods are ranked as known evidence ranks them, 0 = unrelated, -1 = reversed. The interval "
    "is a bootstrap over examples; with few methods tau takes few "
    "values, and where evidence can't tell methods apart it stays below 1."
)


def _concord_sentence(found: Sequence[Concord]) -> Bullets:
    told = [c for c in found if c.low is not None and c.low > 0]
    against = [c for c in found if c.high is not None and c.high < 0]
    items: list[Sentence] = [
        [Phrase(
            f"Of {count(len(found), 'pair')} of a metric and a measure of known evidence, "
            f"{len(told)} agree (interval above 0) and {len(against)} contradict (below 0)."
        )]
    ]  # fmt: skip
    for c in against:
        items.append([Phrase(c.metric, True), Phrase(f" ranks the methods against {c.evidence}.")])
    return Bullets(tuple(items))


def _concord_table(found: Sequence[Concord]) -> Table:
    measures = list(dict.fromkeys(c.evidence for c in found))
    by = {(c.metric, c.removal, c.evidence): c for c in found}
    places = list(dict.fromkeys((c.metric, c.removal) for c in found))
    rows = tuple(
        (Cell(m, code=True), Cell(r), *(_tau(by.get((m, r, e))) for e in measures))
        for m, r in places
    )
    header = (*head("metric", "removal"), *(Cell(e, code=True) for e in measures))
    return Table(header, rows, "Agreement with known evidence")


def _tau(found: Concord | None) -> Cell:
    if found is None:
        return Cell(DASH)
    interval = spread(found.low, found.high, digits=2)
    return figure(found.tau, shade=True, after=interval, note=f"{found.methods} methods")


def power(found: Findings) -> list[Part]:
    """Which pairs are told apart, and how many examples would settle the rest."""
    pairs = sum(p.pairs for p in found.power)
    apart = sum(p.apart for p in found.power)
    n = len(found.ground.ids)
    return [
        plain(
            f"{count(n, 'example').capitalize()} tell {apart} of {pairs} pairs of methods apart, "
            "all metrics together."
        ),
        Table(
            head("metric", "removal", "pairs told apart", "smallest difference they can tell",
                 "to settle half of the rest", "to settle nine in ten", "hopeless"),
            tuple(_power(p) for p in found.power),
            "What so many examples can tell",
        ),
        note(
            "Smallest difference: median over pairs of the mean difference that these examples "
            "would tell apart with 80 % power at Holm's first level. To settle: examples that "
            "would be needed with 80 % power if means and spreads stayed as seen, a rough guess. "
            "Hopeless: open pairs whose means are equal, or too close for any number of examples."
        ),
    ]  # fmt: skip


def _power(p: Power) -> tuple[Cell, ...]:
    settled = "all told apart" if p.apart == p.pairs else DASH
    half, most = (settled if n is None else f"{n:,}" for n in (p.settle_half, p.settle_most))
    return (
        *where(p),
        Cell(f"{p.apart} of {p.pairs}", number=True),
        figure(p.detectable, digits=3),
        Cell(half, number=True),
        Cell(most, number=True),
        Cell(str(p.hopeless) if p.hopeless else DASH, number=True),
    )


def section_heading(anchor: str, text: str) -> Heading:
    """A third-level heading that the contents list."""
    return Heading(3, text, anchor)
