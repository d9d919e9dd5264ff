"""One row of a data set as an item: its texts, its label, its known evidence, what is asked."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path

from attrial import _data_evidence
from attrial._data_evidence import FORMS as FORMS
from attrial._data_evidence import Spans, missing
from attrial._data_head import NO_HEAD, Head
from attrial._data_images import Boxes, boxes_of, image_of
from attrial._data_prompt import Continuations, columns_of, fill, options, split_pair
from attrial.errors import AttrialError, near

Row = Mapping[str, object]


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
        position: Number of the word that a head is asked about, if one is.
        spans: The players, written like evidence, where players are spans.
        fixed: Parts of the texts that are no players and always stay, written alike.
        image: An image file or what is in one, in place of texts.
        boxes: Known evidence in an image as (left, top, right, bottom) pixels; None where nothing
            is known.
    """

    id: str
    texts: tuple[str, ...]
    label: int | None = None
    evidence: Spans | None = None
    options: tuple[str, ...] = ()
    prefix: str = ""
    spans: Spans = ()
    fixed: Spans = ()
    image: Path | bytes | None = None
    boxes: Boxes | None = None
    position: int | None = None


@dataclass(frozen=True)
class Columns:
    """Where the parts of an item stand in a row, and how the label and the evidence are written.

    Attributes:
        texts: One or two columns; those that evidence speaks of where a template takes more.
        label: Column of the label, if any.
        labels: Names of the classes, in the model's order.
        label_values: What the column says for each of them, where it says neither name nor index.
        rationale: Column of the evidence, or one for each text, if any.
        form: How it is written there (see ``FORMS``).
        template: One text of several columns, ``{column}`` where each one's goes.
        asked: Continuations that a language model is asked about.
        spans: Column of the players, where they are spans.
        spans_form: How they are written there.
        label_until: What ends the part of a label that counts.
        image: Column of the image, in place of texts.
        head: What is asked of a head that isn't a sequence classifier's.
    """

    texts: tuple[str, ...]
    label: str | None = None
    labels: tuple[str, ...] = ()
    label_values: tuple[str, ...] = ()
    rationale: str | tuple[str, ...] | None = None
    form: str = "spans"
    template: str | None = None
    asked: Continuations | None = None
    spans: str | None = None
    spans_form: str = "spans"
    label_until: str | None = None
    image: str | None = None
    head: Head = NO_HEAD

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that a row must have."""
        texts = self.asked.minimal_pair if self.asked and self.asked.minimal_pair else self.texts
        told = columns_of(self.template) if self.template else ()
        asked = self.asked.names if self.asked else ()
        found = (
            *texts,
            *told,
            self.label,
            *self.evidence,
            self.spans,
            self.image,
            *asked,
            *self.head.names,
        )
        return tuple(dict.fromkeys(name for name in found if name))

    @property
    def evidence(self) -> tuple[str, ...]:
        """The columns of the evidence."""
        return (self.rationale,) if isinstance(self.rationale, str) else self.rationale or ()


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
        return _read(str(index), row, columns)
    except ValueError as error:
        raise AttrialError(f"{source}, row {index}: {error}") from None


def _read(id: str, row: Row, columns: Columns) -> Item:
    label = _label(row[columns.label], columns) if columns.label else None
    if columns.asked and columns.asked.minimal_pair:
        return _minimal(id, row, columns, columns.asked, label)
    if columns.image:
        return _pictured(id, row, columns, columns.image, label)
    texts = tuple(_text(row[name], name) for name in columns.texts)
    told = [row[name] for name in columns.evidence]
    evidence = _data_evidence.parts(told, texts, columns.form) if told else None
    cut = [row[columns.spans]] if columns.spans else []
    spans = _data_evidence.parts(cut, texts, columns.spans_form) if cut else None
    fixed: Spans = ()
    if columns.template is not None:
        names = columns_of(columns.template)
        filled = fill(columns.template, {name: _text(row[name], name) for name in names})
        evidence, spans = (filled.moved(part, columns.texts) for part in (evidence, spans))
        texts, fixed = (filled.text,), filled.fixed
    asked = columns.asked
    head = columns.head.options(row)
    found = options(asked, [row[name] for name in asked.names], texts[-1]) if asked else head
    return Item(
        id, texts, label, evidence, found,
        spans=spans or (), fixed=fixed, position=columns.head.at(row),
    )  # fmt: skip


def _pictured(id: str, row: Row, columns: Columns, name: str, label: int | None) -> Item:
    boxes = [boxes_of(row[column]) for column in columns.evidence]
    return Item(id, (), label, image=image_of(row[name]), boxes=boxes[0] if boxes else None)


def _minimal(id: str, row: Row, columns: Columns, asked: Continuations, label: int | None) -> Item:
    good, bad = (_text(row[name], name) for name in asked.minimal_pair)
    text, *rests = split_pair(good, bad, asked.until)
    told = [row[name] for name in columns.evidence]
    evidence = _data_evidence.parts(told, (text,), columns.form) if told else None
    return Item(id, (text,), label, evidence, options(asked, rests, text))


def _text(value: object, name: str) -> str:
    if not missing(value) and not isinstance(value, str | Real):
        raise ValueError(f"the text in column {name!r} is a {type(value).__name__}, no string")
    text = "" if missing(value) else str(value)
    if not text.strip():
        raise ValueError(f"the text in column {name!r} is empty")
    return text


def _label(value: object, columns: Columns) -> int | None:
    if missing(value):
        return None
    text = str(value)
    if columns.label_until:
        text = text.partition(columns.label_until)[0]
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
