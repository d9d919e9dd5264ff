"""One row of a data set as an item: its texts, its label, its known evidence."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

from attrial.errors import AttrialError, near

Row = Mapping[str, object]
Spans = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Item:
    """One example as people read it, before any tokenizer.

    Attributes:
        id: Name within its task; the number of its row, counted from 0.
        texts: One text, or the two of a pair.
        label: Index of the gold class among the task's label names, or None.
        evidence: Known evidence as (text, start, end): characters start to end - 1 of that text.
            Empty where it is known that there is none; None where nothing is known.
        options: Continuations that are asked about, the right one first; empty for classifiers.
        prefix: What a decoder has said before the option; empty at its start.
    """

    id: str
    texts: tuple[str, ...]
    label: int | None = None
    evidence: Spans | None = None
    options: tuple[str, ...] = ()
    prefix: str = ""


@dataclass(frozen=True)
class Columns:
    """Where the parts of an item stand in a row, and how the label and the evidence are written.

    Attributes:
        texts: One or two columns.
        label: Column of the label, if any.
        labels: Names of the classes, in the model's order.
        label_values: What the column says for each of them, where it says neither name nor index.
        rationale: Column of the evidence, if any.
        form: ``spans``, ``flags`` or ``words`` (see ``FORMS``).
    """

    texts: tuple[str, ...]
    label: str | None = None
    labels: tuple[str, ...] = ()
    label_values: tuple[str, ...] = ()
    rationale: str | None = None
    form: str = "spans"

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that a row must have."""
        return (*self.texts, *filter(None, (self.label, self.rationale)))


def items_of(
    rows: Sequence[Row], columns: Columns, *, source: str, numbers: Sequence[int] = ()
) -> list[Item]:
    """The items of all rows, in order; ``numbers`` are the rows' own where some were skipped.

    Raises:
        AttrialError: If there is no row, a column is absent, a text is empty, or a label or an
            evidence can't be read: the line names the source and the row (the first is row 0).
    """
    counted = zip(numbers or range(len(rows)), rows, strict=True)
    found = [_item(index, row, columns, source) for index, row in counted]
    if not found:
        raise AttrialError(f"{source} has no rows")
    return found


def _item(index: int, row: Row, columns: Columns, source: str) -> Item:
    for name in columns.names:
        if name not in row:
            raise AttrialError(f"{source} has no column {name!r}; {near(name, row)}")
    try:
        texts = tuple(_text(row[name], name) for name in columns.texts)
        label = _label(row[columns.label], columns) if columns.label else None
        told = _plain(row[columns.rationale]) if columns.rationale else None
        evidence = None if told is None else _evidence(told, texts, columns.form)
    except ValueError as error:
        raise AttrialError(f"{source}, row {index}: {error}") from None
    return Item(str(index), texts, label, evidence)


def _text(value: object, name: str) -> str:
    if not _missing(value) and not isinstance(value, str | Real):
        raise ValueError(f"the text in column {name!r} is a {type(value).__name__}, no string")
    text = "" if _missing(value) else str(value)
    if not text.strip():
        raise ValueError(f"the text in column {name!r} is empty")
    return text


def _missing(value: object) -> bool:
    """None, an empty cell, or NaN (the only number that is unlike itself)."""
    return value is None or value == "" or (isinstance(value, float) and value != value)


def _label(value: object, columns: Columns) -> int | None:
    if _missing(value):
        return None
    text = str(value)
    for known in (columns.label_values, columns.labels):
        if text in known:
            return known.index(text)
    if not columns.label_values and re.fullmatch(r"\d+(\.0)?", text):
        index = int(float(text))
        if index < len(columns.labels) or not columns.labels:
            return index
    raise ValueError(f"label {text!r} is none of {_known(columns)}")


def _known(columns: Columns) -> str:
    if not columns.labels:
        return "the numbers 0, 1, ... (the task names no labels)"
    numbers = columns.label_values or tuple(map(str, range(len(columns.labels))))
    return ", ".join(f"{v} ({n})" for v, n in zip(numbers, columns.labels, strict=True))


def _plain(value: object) -> list[object] | None:
    """A list of plain Python values: CSV files hold lists as JSON text, others as arrays."""
    if _missing(value):
        return None
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            raise ValueError(f"evidence {value!r} is no list") from None
    tolist = getattr(value, "tolist", None)
    value = tolist() if callable(tolist) else value
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ValueError(f"evidence {value!r} is no list")
    return list(value)


def _evidence(told: list[object], texts: tuple[str, ...], form: str) -> Spans:
    try:
        return FORMS[form](told, texts)
    except TypeError:
        raise ValueError(f"evidence {told!r} is not of the form {form!r}") from None


def _spans(told: list[object], texts: tuple[str, ...]) -> Spans:
    """Pairs (start, end) of characters in the first text, or triples (text, start, end)."""
    spans = [tuple(map(_whole, _list(span))) for span in told]
    full = [span if len(span) == 3 else (0, *span) for span in spans]
    for span in full:
        if len(span) != 3 or not (0 <= span[0] < len(texts)):
            raise ValueError(f"evidence {span} is no (start, end) nor (text, start, end)")
        if not 0 <= span[1] < span[2] <= len(texts[span[0]]):
            raise ValueError(f"evidence {span} lies outside its text")
    return tuple((text, start, end) for text, start, end in full)


def _flags(told: list[object], texts: tuple[str, ...]) -> Spans:
    """A 0 or 1 for each word between white space, the second text's after the first's."""
    flags, words = [_whole(flag) for flag in told], _words(texts)
    if len(flags) != len(words) or not {0, 1} >= set(flags):
        raise ValueError(f"evidence must be {len(words)} flags of 0 or 1, a word each")
    return tuple(word for word, flag in zip(words, flags, strict=True) if flag)


def _word_numbers(told: list[object], texts: tuple[str, ...]) -> Spans:
    """Numbers of words between white space, from 0, the second text's after the first's."""
    numbers, words = sorted({_whole(number) for number in told}), _words(texts)
    if numbers and not 0 <= numbers[0] <= numbers[-1] < len(words):
        raise ValueError(f"evidence {numbers} lies outside the {len(words)} words")
    return tuple(words[number] for number in numbers)


FORMS: Mapping[str, Callable[[list[object], tuple[str, ...]], Spans]] = {
    "spans": _spans,
    "flags": _flags,
    "words": _word_numbers,
}


def _words(texts: tuple[str, ...]) -> Spans:
    return tuple((i, *m.span()) for i, text in enumerate(texts) for m in re.finditer(r"\S+", text))


def _list(value: object) -> Sequence[object]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise TypeError(value)
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int | float) or not float(value).is_integer():
        raise TypeError(value)
    return int(value)
