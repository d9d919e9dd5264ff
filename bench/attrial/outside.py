"""Methods whose attributions were made elsewhere: they ask nothing and give what a file holds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from attrial import registry
from attrial.alignment import check_all_there, check_players, check_target, matched
from attrial.ask import Asking, note
from attrial.attribution import Attribution, attribution, named_alike, shown
from attrial.errors import AttrialError, Undefined
from attrial.example import Example
from attrial.masks import Scores
from attrial.outside_rows import Sheet
from attrial.record import PluginSpec


@dataclass(frozen=True)
class Submission:
    """One method's attributions as they were handed in, not yet compared with a task.

    Attributes:
        label: Name of its rows.
        shipped_by: The file, with the sha256 of its content.
        rows: In the order of the file.
        partial: Whether examples without a row count as undefined; they are refused otherwise.
    """

    label: str
    shipped_by: str
    rows: tuple[Attribution, ...]
    partial: bool = False


def submissions(sheets: Iterable[Sheet], *, partial: bool = False) -> list[Submission]:
    """The methods of some files, each by its name.

    Raises:
        AttrialError: If a row is wrong, two files hold a method of one name, or a name is one of
            attrial's own.
    """
    found: dict[str, Submission] = {}
    for sheet in sheets:
        rows = (attribution(place, row, method=sheet.name) for place, row in sheet.rows)
        for label, own in named_alike(rows).items():
            _check_name(own[0], found)
            found[label] = Submission(label, sheet.shipped_by, tuple(own), partial)
    return list(found.values())


def _check_name(first: Attribution, found: Mapping[str, Submission]) -> None:
    name = first.method
    way = "name yours apart in a 'method' column, or by the file's name"
    if name in found:
        raise AttrialError(f"{first.place}: another file has a method {shown(name)} too; {way}")
    if name.partition("(")[0] in registry.plugins("methods"):
        raise AttrialError(f"{first.place}: {shown(name)} is a name of attrial's own; {way}")


@dataclass(frozen=True, eq=False)
class Outside:
    """A submission on a task's examples; satisfies ``attrial.plugin_call.Method``.

    Attributes:
        submission: What was handed in.
        rows: The attribution of each example that has one, by the example's id.
    """

    submission: Submission
    rows: Mapping[str, Attribution]

    @property
    def asks(self) -> tuple[str, ...]:
        """It asks nothing."""
        return ()

    @property
    def spec(self) -> PluginSpec:
        """What goes into the record: the method's name, and the file with its hash."""
        return PluginSpec(name=self.submission.label, shipped_by=self.submission.shipped_by)

    def __call__(self, x: Example, seed: int) -> Asking[Scores]:
        """The asker that gives the scores of one example, (n,).

        Raises:
            Undefined: If there are none.
        """
        yield from note({})  # a generator must yield
        if x.id not in self.rows:
            raise Undefined("the file has no attribution of this example")
        return np.array(self.rows[x.id].scores)


def on_task(
    submission: Submission,
    examples: Sequence[Example],
    known: Mapping[str, tuple[str, ...]],
    *,
    players: str,
) -> Outside:
    """Compare a submission with a task's examples.

    Args:
        submission: What was handed in.
        examples: The examples that are tried.
        known: The texts of all examples of the task, by id, so that rows beyond the ones that are
            tried are told from rows of no example.
        players: What the task's players are.

    Raises:
        AttrialError: At the first thing that doesn't fit.
    """
    found = matched(submission.label, submission.rows, known)
    rows = {x.id: found[x.id] for x in examples if x.id in found}
    for x in examples:
        if x.id in rows:
            check_players(rows[x.id], x, players)
    check_all_there(submission.label, rows, examples, partial=submission.partial)
    return Outside(submission, rows)


def names_targets(methods: Iterable[Outside]) -> bool:
    """Whether any attribution says which class it explains."""
    return any(row.target is not None for method in methods for row in method.rows.values())


def check_targets(
    methods: Iterable[Outside],
    examples: Sequence[Example],
    predicted: Sequence[int],
    labels: Sequence[str],
) -> None:
    """Make sure that all explain the predicted class (one number an example).

    Raises:
        AttrialError: At the first that explains another.
    """
    for method in methods:
        for x, index in zip(examples, predicted, strict=True):
            if x.id in method.rows:
                check_target(method.rows[x.id], x, index, x.names or labels)
