"""Figures of a section: curves averaged over examples, and the scores of a few examples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attrial.leaderboard import CONTROLS
from attrial.patches import grid_of
from attrial.record import Trial
from attrial.report.heatmap import Word, spaced, words
from attrial.report.picture import SMALL, Picture, even, picture
from attrial.report.svg import Chart, Series, chart, mean_curve
from attrial.store import Entry

COLOURS, DASHES = 8, 3  # how many of each the style sheet has
EXAMPLES = 3  # the first ones of a task: not chosen by anyone
KNOWN = {
    "deletion": ("players removed, highest score first", "A faithful method falls early."),
    "insertion": ("players added, highest score first", "A faithful method rises early."),
}


@dataclass(frozen=True)
class Figure:
    """A chart with what its reader must know."""

    removal: str
    chart: Chart
    note: str
    examples: int


@dataclass(frozen=True)
class Sample:
    """One example as every method scores it.

    Attributes:
        id: The example's.
        asked: Whether a class is explained, or a continuation.
        explained: That class: its name with its number, or the number alone; or the continuation,
            and what it is compared with.
        gold: The gold class likewise; empty where it is unknown.
        truncated: Words cut off.
        evidence: Whether any is known.
        pictured: Whether it is an image, whose players are the cells of a grid.
        lines: Each method with its coloured words, or cells.
    """

    id: str
    asked: str
    explained: str
    gold: str
    truncated: int
    evidence: bool
    pictured: bool
    lines: tuple[tuple[str, list[Word] | Picture], ...]


def styles(labels: Sequence[str]) -> dict[str, str]:
    """A CSS class for each method, the same all over a page; controls have their own."""
    found = {
        name: f"s{i % COLOURS} d{i // COLOURS % DASHES}" for i, name in enumerate(sorted(labels))
    }
    return found | {name: name for name in CONTROLS}


def figures(entries: Sequence[Entry], style: Mapping[str, str]) -> list[Figure]:
    """One figure a removal and curve, in the order in which they occur."""
    places = dict.fromkeys(
        (e.record.spec.removal, name)
        for e in entries
        for t in e.trials
        for name in sorted(t.curves)
    )
    return [_figure(removal, name, entries, style) for removal, name in places]


def _figure(removal: str, name: str, entries: Sequence[Entry], style: Mapping[str, str]) -> Figure:
    found = [e for e in entries if e.record.spec.removal == removal]
    curves = {
        e.record.spec.label: [t.curves[name] for t in e.trials if name in t.curves] for e in found
    }
    series = [
        Series(who, style.get(who, "control"), mean_curve(cs)) for who, cs in curves.items() if cs
    ]
    series.sort(key=lambda s: (s.name in CONTROLS, s.values.mean() * (-1) ** (name == "insertion")))
    x_label, note = KNOWN.get(name, ("share of players", ""))
    drawn = chart(f"{name} · {removal}", x_label=x_label, y_label="model's answer", series=series)
    return Figure(removal, drawn, note, max(len(cs) for cs in curves.values()))


def samples(entries: Sequence[Entry], order: Sequence[str]) -> list[Sample]:
    """The first examples under the methods that explained them, in the order of the table."""
    scored = {e.record.spec.label: e for e in entries if not e.record.spec.control}
    ranked = [scored[name] for name in order if name in scored]
    ids = list(dict.fromkeys(t.id for e in ranked for t in e.trials))[:EXAMPLES]
    return [_sample(name, ranked) for name in ids]


def _sample(name: str, ranked: Sequence[Entry]) -> Sample:
    rows = [(e.record.spec.label, t) for e in ranked for t in e.trials if t.id == name]
    first, labels = rows[0][1], next((e.record.labels for e in ranked if e.record.labels), [])
    return Sample(
        id=first.id,
        asked="explained class" if not first.names or labels else "explained:",
        explained=_against(first) if first.names and not labels else _class(first.target, labels),
        gold=_class(first.label, labels or first.names),
        truncated=first.truncated,
        evidence=first.truth is not None and any(first.truth),
        pictured=grid_of(first.players) is not None,
        lines=tuple((name, _shown(trial)) for name, trial in rows if trial.scores),
    )


def _class(index: int | None, labels: Sequence[str]) -> str:
    """A class as a person calls it; records from before labels have its number alone.

    >>> _class(1, ["bad", "good"]), _class(1, []), _class(None, ["bad", "good"])
    ('good (1)', '1', '')
    """
    if index is None:
        return ""
    return f"{labels[index]} ({index})" if index < len(labels) else str(index)


def _against(trial: Trial) -> str:
    """A continuation, and the others that it is compared with.

    >>> _against(Trial(id="0", players=[], scores=[], target=0, values={}, names=[" are", " is"]))
    '“are”, not “is”'
    """
    said = [f"“{name.strip()}”" for name in trial.names]
    others = [name for i, name in enumerate(said) if i != trial.target]
    return ", not ".join([said[trial.target], *([" or ".join(others)] if others else [])])


def _shown(trial: Trial) -> list[Word] | Picture:
    cells = grid_of(trial.players)
    if cells is not None:
        return picture(
            trial.players,
            trial.scores,
            edges=even(cells),
            truth=trial.truth,
            shape=cells,
            side=SMALL,
        )
    return spaced(words(trial.players, trial.scores, truth=trial.truth))
