"""Texts as token positions, in which nothing that a user writes becomes a special token.

Tokenizers take ``[SEP]`` or ``<|eot_id|>`` for the special token wherever it is written. Here only
a template's own parts can name one.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tokenizers import AddedToken, Tokenizer
from transformers import PreTrainedTokenizerBase

from attrial.errors import AttrialError
from attrial.models.players import Span

PRIVATE = 0xF0000  # characters that Unicode leaves to private use stand for special tokens
KEPT = 4  # tokenizers whose literal copies are held


@dataclass(frozen=True)
class Position:
    """One token: its id, its segment, and where it stands (None for a special token)."""

    id: int
    type: int
    span: Span | None


def positions(
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    fixed: Sequence[Span] = (),
    *,
    most: int | None = None,
    template: bool = True,
) -> list[Position]:
    """The tokens of one text, or of a pair.

    Args:
        tokenizer: A fast one.
        texts: What is read.
        fixed: Parts of the texts that are a template's: special tokens named there are special.
        most: Cut the texts, the longer one first, to so many tokens in all; None for no limit.
        template: Whether the tokenizer adds its own special tokens.

    Raises:
        AttrialError: If a text has characters that stand for special tokens here, beside one;
            halves of characters; or words that a tokenizer without an unknown token doesn't know.
    """
    for text in texts:
        _check(text)
    found, special = _read(tokenizer, texts, None, template), _special(tokenizer)
    for p in found:
        if p.id in special and _named(tokenizer, texts, p) and not _inside(p.span, fixed):
            return _literally(tokenizer, texts, fixed, most, template)
    return found if most is None else _read(tokenizer, texts, most, template)


def _check(text: str) -> None:
    """Refuse what is no character: a lone surrogate, as a broken byte or half an emoji leaves."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        near = text[max(0, error.start - 20) : error.start + 1]
        raise AttrialError(f"character {error.start + 1} of a text is broken: {near!a}") from None


def _read(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], most: int | None, template: bool
) -> list[Position]:
    """What the tokenizer makes of the texts by itself."""
    with _cutting(texts):
        encoded = tokenizer(
            *texts,
            add_special_tokens=template,
            truncation=False if most is None else "longest_first",
            max_length=most,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            return_token_type_ids=True,
            verbose=False,
        )
    names = ("input_ids", "token_type_ids", "special_tokens_mask", "offset_mapping")
    columns = zip(*(encoded[n] for n in names), encoded.sequence_ids(), strict=True)
    return [
        Position(i, kind, None if special or text is None else Span(text, *at))
        for i, kind, special, at, text in columns
    ]


@contextmanager
def _cutting(texts: Sequence[str]) -> Iterator[None]:
    """Tell in one line what a tokenizer stumbles over; its own faults are of no kind of their own.

    Raises:
        AttrialError: Of a word that it doesn't know, where it has no token for that.
    """
    try:
        yield
    except Exception as error:
        if type(error) is not Exception:
            raise
        raise AttrialError(
            f"the tokenizer can't cut {texts[0][:40]!r}: {error}; it needs a token for unknown "
            "words, or a text of words that it knows"
        ) from error


def _special(tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    added = tokenizer.added_tokens_decoder.items()
    return frozenset(tokenizer.all_special_ids) | {i for i, token in added if token.special}


def _named(tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], p: Position) -> bool:
    """Whether a special token is written in the text; where a word is unknown none is."""
    if p.span is None:
        return False
    written = texts[p.span.text][p.span.start : p.span.end].strip()
    return p.id != tokenizer.unk_token_id or written == str(tokenizer.unk_token)


def _inside(span: Span | None, parts: Sequence[Span]) -> bool:
    return span is not None and any(
        p.text == span.text and p.start <= span.start and span.end <= p.end for p in parts
    )


@dataclass(frozen=True)
class Literal:
    """A copy of a tokenizer to which special tokens are text.

    Attributes:
        backend: The copy.
        names: For each special token's string another one of its length, which the copy takes for
            the token.
        ids: The tokenizer's id for each of those that the copy numbers otherwise.
    """

    backend: Tokenizer
    names: Mapping[str, str]
    ids: Mapping[int, int]

    def renamed(self, text: str, parts: Sequence[Span]) -> str:
        """The text, special tokens of some parts under their other names.

        Raises:
            AttrialError: If the text has characters that those names are made of.
        """
        if any(ord(c) >= PRIVATE for c in text):
            raise AttrialError(
                f"{text[:40]!r}: characters of Unicode's private planes can't stand beside a "
                "special token's name"
            )
        found = re.compile("|".join(map(re.escape, sorted(self.names, key=len, reverse=True))))
        for p in parts:
            own = found.sub(lambda m: self.names[m[0]], text[p.start : p.end])
            text = text[: p.start] + own + text[p.end :]
        return text


def _literally(
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    fixed: Sequence[Span],
    most: int | None,
    template: bool,
) -> list[Position]:
    copy = literal(tokenizer)
    renamed = [copy.renamed(t, [s for s in fixed if s.text == i]) for i, t in enumerate(texts)]
    copy.backend.no_truncation()
    if most is not None:
        side = tokenizer.truncation_side
        copy.backend.enable_truncation(most, strategy="longest_first", direction=side)
    first, second = renamed[0], renamed[1] if len(renamed) > 1 else None
    with _cutting(texts):
        found = copy.backend.encode(first, second, add_special_tokens=template)
    return [
        Position(i, kind, None)
        if special or text is None
        else Position(copy.ids.get(i, i), kind, Span(text, *at))
        for i, kind, special, at, text in zip(
            found.ids, found.type_ids, found.special_tokens_mask, found.offsets,
            found.sequence_ids, strict=True,
        )
    ]  # fmt: skip


@lru_cache(maxsize=KEPT)
def literal(tokenizer: PreTrainedTokenizerBase) -> Literal:
    """The copy of a tokenizer that reads special tokens as text, and their other names as them."""
    told = json.loads(tokenizer.backend_tokenizer.to_str())
    special = [token for token in told["added_tokens"] if token["special"]]
    names = {t["content"]: chr(PRIVATE + i) * len(t["content"]) for i, t in enumerate(special)}
    moved = _rename(told["model"], names)
    told["added_tokens"] = [t for t in told["added_tokens"] if t["content"] not in moved]
    told["truncation"] = told["padding"] = None
    backend = Tokenizer.from_str(json.dumps(told))
    backend.encode_special_tokens = True
    backend.add_tokens([_token(t, names[t["content"]]) for t in special])
    own = [(backend.token_to_id(names[t["content"]]), int(t["id"])) for t in special]
    ids = {new: old for new, old in own if new is not None}
    return Literal(backend, names, ids)


def _token(told: Mapping[str, Any], name: str) -> AddedToken:
    flags = {flag: bool(told[flag]) for flag in ("single_word", "lstrip", "rstrip")}
    return AddedToken(name, normalized=False, special=False, **flags)


def _rename(model: dict[str, Any], names: Mapping[str, str]) -> set[str]:
    """Give special pieces of a model's vocabulary their other names, so that no text is cut so.

    Returns:
        What was renamed. The unknown word's piece stays where the model finds it by name.
    """
    vocabulary = model["vocab"]
    if isinstance(vocabulary, list):  # pieces with their scores
        model["vocab"] = [[names.get(piece, piece), score] for piece, score in vocabulary]
        return {piece for piece, _ in vocabulary} & set(names)
    moved = (set(vocabulary) & set(names)) - {model.get("unk_token")}
    model["vocab"] = {names[p] if p in moved else p: i for p, i in vocabulary.items()}
    if "merges" in model:
        model["merges"] = [
            [a, b] for a, b in model["merges"] if not {a, b, a + b} & moved
        ]  # fmt: skip
    return moved
