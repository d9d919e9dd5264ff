"""Texts made of several columns, and the continuations that a language model is asked about."""

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from attrial._data_evidence import Spans


def fields(template: str) -> tuple[tuple[str, str | None], ...]:
    """Pairs (words before, column) of a template; the last column may be None.

    A field is a column's name and nothing else: no attributes, no items, no formats.

    Raises:
        ValueError: If a field is more than a name, or a brace is open.

    >>> fields("Q: {question} A:")
    (('Q: ', 'question'), (' A:', None))
    """
    found = []
    for before, name, form, conversion in string.Formatter().parse(template):
        if name is not None and (not name or form or conversion or set(name) & set(".[]")):
            raise ValueError(f"a field of the template is a column's name alone, not {{{name}}}")
        found.append((before, name))
    if not any(name for _, name in found):
        raise ValueError("the template has no {column}")
    return tuple(found)


def columns_of(template: str) -> tuple[str, ...]:
    """The columns that a template needs, in the order of their first use."""
    return tuple(dict.fromkeys(name for _, name in fields(template) if name))


@dataclass(frozen=True)
class Filled:
    """A template with a row's texts in it.

    Attributes:
        text: The whole.
        starts: Where each column's text begins: the first place of several.
        fixed: The template's own words as (0, start, end).
    """

    text: str
    starts: Mapping[str, int]
    fixed: Spans

    def moved(self, spans: Spans | None, columns: Sequence[str]) -> Spans | None:
        """Spans of the columns' texts as spans of the whole."""
        if spans is None:
            return None
        starts = [self.starts[name] for name in columns]
        return tuple((0, starts[i] + start, starts[i] + end) for i, start, end in spans)


def fill(template: str, texts: Mapping[str, str]) -> Filled:
    """Put texts into a template; they are never read as templates themselves."""
    whole, starts, fixed = "", dict[str, int](), []
    for before, name in fields(template):
        if before.strip():
            fixed.append((0, len(whole), len(whole) + len(before)))
        whole += before
        if name is not None:
            starts.setdefault(name, len(whole))
            whole += texts[name]
    return Filled(whole, starts, tuple(fixed))


@dataclass(frozen=True)
class Continuations:
    """Which continuations of the text a language model is asked about; one of four ways.

    Attributes:
        right: Column of the right one; it alone is asked about where there is no foil.
        foil: Column of a wrong one.
        column: Column of a list of them, the right one first.
        words: Fixed ones, one a label: the model's choice among them is its class.
        minimal_pair: Columns of two sentences, the right one first: the text is what they begin
            with alike.
        until: Where a minimal pair's continuations end: after one ``word``, or at the ``end``.
        joint: What stands between text and continuation, where neither has white space there.
    """

    right: str | None = None
    foil: str | None = None
    column: str | None = None
    words: tuple[str, ...] = ()
    minimal_pair: tuple[str, str] | tuple[()] = ()
    until: str = "word"
    joint: str = " "

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that a row must have."""
        return (*filter(None, (self.right, self.foil, self.column)), *self.minimal_pair)


def options(told: Continuations, values: Sequence[object], text: str) -> tuple[str, ...]:
    """The continuations of a text, from what stands in the columns ``told.names``.

    Raises:
        ValueError: If one is empty or no string, two are alike, or there is none.
    """
    found = told.words or (_several(values[0]) if told.column else values)
    for one in found:
        if not isinstance(one, str) or not one.strip():
            raise ValueError(f"continuation {one!r} is no text")
    joined = tuple(_joined(text, str(one), told.joint) for one in found)
    if not joined or len(set(joined)) < len(joined):
        raise ValueError(f"continuations {list(found)} must differ from each other")
    return joined


def _several(value: object) -> Sequence[object]:
    tolist = getattr(value, "tolist", None)
    value = tolist() if callable(tolist) else value
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ValueError(f"continuations {value!r} are no list")
    return value


def _joined(text: str, option: str, joint: str) -> str:
    apart = option[:1].isspace() or text[-1:].isspace()
    return option if apart else joint + option


def split_pair(good: str, bad: str, until: str) -> tuple[str, str, str]:
    """What two sentences begin with alike, word by word, and how each goes on.

    Raises:
        ValueError: If they begin with different words, are alike, or one ends where they part.

    >>> split_pair("the keys are here", "the keys is here", "word")
    ('the keys', 'are', 'is')
    """
    pair = good.split(), bad.split()
    same = 0
    while same < min(map(len, pair)) and pair[0][same] == pair[1][same]:
        same += 1
    if same == 0:
        raise ValueError("the two sentences begin with different words: no text goes before")
    if same == min(map(len, pair)):
        raise ValueError("the two sentences do not part: one is the other's beginning")
    stop = same + 1 if until == "word" else None
    first, second = (" ".join(words[same:stop]) for words in pair)
    return " ".join(pair[0][:same]), first, second
