"""Parts of texts as data sets write them down: known evidence, and spans that are players."""

import json
import re
from collections.abc import Callable, Mapping, Sequence

Spans = tuple[tuple[int, int, int], ...]
Texts = tuple[str, ...]


def missing(value: object) -> bool:
    """None, an empty cell, or NaN (the only number that is unlike itself)."""
    return value is None or value == "" or (isinstance(value, float) and value != value)


def parts(values: Sequence[object], texts: Texts, form: str) -> Spans | None:
    """What one column says of all texts, or one column of each text; None where it says nothing.

    Raises:
        ValueError: If it can't be meant; it says why.
    """
    if all(map(missing, values)):
        return None
    if len(values) == 1:
        return _read(values[0], texts, form)
    each = [_read(v, (t,), form) for v, t in zip(values, texts, strict=True)]
    return tuple((i, start, end) for i, spans in enumerate(each) for _, start, end in spans)


def _read(value: object, texts: Texts, form: str) -> Spans:
    if form == "marked":
        return _marked(value, texts)
    told = [] if missing(value) else _plain(value, form)
    try:
        return FORMS[form](told, texts)
    except TypeError:
        raise ValueError(f"evidence {told!r} is not of the form {form!r}") from None


def _plain(value: object, form: str) -> list[object]:
    """A list of plain Python values: CSV files hold lists as JSON text, others as arrays."""
    if isinstance(value, str):
        value = _from_text(value, form)
    tolist = getattr(value, "tolist", None)
    value = tolist() if callable(tolist) else value
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ValueError(f"evidence {value!r} is no list")
    return list(value)


def _from_text(text: str, form: str) -> object:
    if form in ("words", "flags") and re.fullmatch(r"[\d\s,]*|\{\}", text):
        return [int(number) for number in re.findall(r"\d+", text)]
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        if form == "texts":
            return [text]
        raise ValueError(f"evidence {text!r} is no list") from None


def _spans(told: list[object], texts: Texts) -> Spans:
    """Pairs (start, end) of characters in the first text, or triples (text, start, end)."""
    spans = [tuple(map(_whole, _list(span))) for span in told]
    full = [span if len(span) == 3 else (0, *span) for span in spans]
    for span in full:
        if len(span) != 3 or not (0 <= span[0] < len(texts)):
            raise ValueError(f"evidence {span} is no (start, end) nor (text, start, end)")
        if not 0 <= span[1] < span[2] <= len(texts[span[0]]):
            raise ValueError(f"evidence {span} lies outside its text")
    return tuple((text, start, end) for text, start, end in full)


def _flags(told: list[object], texts: Texts) -> Spans:
    """A 0 or 1 for each word between white space, the second text's after the first's."""
    flags, words = [_whole(flag) for flag in told], _words(texts)
    if len(flags) != len(words) or not {0, 1} >= set(flags):
        raise ValueError(f"evidence must be {len(words)} flags of 0 or 1, a word each")
    return tuple(word for word, flag in zip(words, flags, strict=True) if flag)


def _word_numbers(told: list[object], texts: Texts) -> Spans:
    """Numbers of words between white space, from 0, the second text's after the first's."""
    numbers, words = sorted({_whole(number) for number in told}), _words(texts)
    if numbers and not 0 <= numbers[0] <= numbers[-1] < len(words):
        raise ValueError(f"evidence {numbers} lies outside the {len(words)} words")
    return tuple(words[number] for number in numbers)


def _ranges(told: list[object], texts: Texts) -> Spans:
    """Pairs (first word, word behind the last), words counted as above; of none where equal."""
    words, found = _words(texts), []
    for pair in told:
        start, end = (_whole(number) for number in _pair(pair))
        if not 0 <= start <= end <= len(words):
            raise ValueError(f"evidence {(start, end)} lies outside the {len(words)} words")
        if start == end:
            continue
        (text, begin, _), (other, _, last) = words[start], words[end - 1]
        if text != other:
            raise ValueError(f"evidence {(start, end)} runs from one text into the other")
        found.append((text, begin, last))
    return tuple(found)


def _quotes(told: list[object], texts: Texts) -> Spans:
    """Quotations: runs of words of a text, whatever white space is between; the first such run."""
    words, found = _words(texts), []
    said = [texts[text][start:end] for text, start, end in words]
    for quote in told:
        if not isinstance(quote, str) or not quote.split():
            raise TypeError(quote)
        at = _run(quote.split(), said)
        if at is None:
            raise ValueError(f"evidence {quote!r} is not in the text")
        (text, begin, _), (other, _, last) = words[at], words[at + len(quote.split()) - 1]
        if text != other:
            raise ValueError(f"evidence {quote!r} is not in the text")
        found.append((text, begin, last))
    return tuple(found)


def _run(quote: Sequence[str], words: Sequence[str]) -> int | None:
    length = len(quote)
    places = range(len(words) - length + 1)
    return next((i for i in places if list(words[i : i + length]) == list(quote)), None)


def _marked(value: object, texts: Texts) -> Spans:
    """A copy of the one text in which words of evidence stand between asterisks."""
    if not isinstance(value, str) or len(texts) != 1:
        raise ValueError("marked evidence is one column a text: the text with *words* in asterisks")
    marked, words = value.split(), _words(texts)
    plain = [word.replace("*", "") for word in marked]
    if plain != [texts[0][start:end].replace("*", "") for _, start, end in words]:
        raise ValueError(f"marked evidence {value!r} has other words than the text")
    return tuple(w for w, mark in zip(words, marked, strict=True) if mark.count("*") > 1)


def _words(texts: Texts) -> Spans:
    return tuple((i, *m.span()) for i, text in enumerate(texts) for m in re.finditer(r"\S+", text))


def _pair(value: object) -> Sequence[object]:
    if len(_list(value)) != 2:
        raise TypeError(value)
    return _list(value)


def _list(value: object) -> Sequence[object]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise TypeError(value)
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int | float) or not float(value).is_integer():
        raise TypeError(value)
    return int(value)


FORMS: Mapping[str, Callable[[list[object], Texts], Spans]] = {
    "spans": _spans,
    "flags": _flags,
    "words": _word_numbers,
    "ranges": _ranges,
    "texts": _quotes,
    "marked": _marked,
}
