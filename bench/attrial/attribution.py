"""One attribution that was made elsewhere, checked by itself: names, scores, target. Pure."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real

from attrial.errors import AttrialError, near

SHOWN = 40  # characters of a name or a value in a message
Row = Mapping[str, object]


@dataclass(frozen=True)
class Attribution:
    """What somebody's method says of one example.

    Attributes:
        place: Where it stands: file and line.
        method: Name of its rows.
        id: The example's id in its task, or None where ``texts`` tell it.
        texts: The text, or both of a pair; empty where ``id`` tells it.
        players: (n,) what was scored.
        scores: (n,) finite, higher speaks more for the target.
        target: The class that was explained, by number or name; None: the predicted one.
    """

    place: str
    method: str
    id: str | None
    texts: tuple[str, ...]
    players: tuple[str, ...]
    scores: tuple[float, ...]
    target: int | str | None = None

    @property
    def key(self) -> str:
        """What it calls its example."""
        return shown(self.texts[0]) if self.id is None else shown(self.id)


def attribution(place: str, row: Row, *, method: str) -> Attribution:
    """Read one row; ``method`` is its name unless it says another.

    Raises:
        AttrialError: If something is missing or wrong; the line names the place.
    """
    for name in ("players", "scores"):
        if name not in row:
            raise AttrialError(f"{place}: no {name!r}; {near(name, row)}")
    id, texts = _id(place, row.get("id")), _texts(place, row)
    if id is None and not texts:
        raise AttrialError(f"{place}: give the example's 'id' in the task, or its 'text'")
    players = _players(place, row["players"])
    scores = _scores(place, row["scores"], players)
    own = _text(place, "method", row.get("method")) or method
    if own != own.strip() or not own.isprintable():
        raise AttrialError(f"{place}: method {own!r} must be one line without blanks around it")
    return Attribution(place, own, id, texts, players, scores, _target(place, row.get("target")))


def shown(value: object) -> str:
    """A value in quotes, cut where it is long."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _absent(value: object) -> bool:
    """None, or NaN: how frames say that there is nothing."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _id(place: str, value: object) -> str | None:
    if _absent(value):
        return None
    if isinstance(value, bool) or not isinstance(value, str | Integral):
        raise AttrialError(f"{place}: id {shown(value)} is neither text nor a whole number")
    return str(value)


def _text(place: str, name: str, value: object) -> str | None:
    if _absent(value):
        return None
    if not isinstance(value, str) or not value:
        raise AttrialError(f"{place}: {name} {shown(value)} is no text")
    return value


def _texts(place: str, row: Row) -> tuple[str, ...]:
    first, second = (_text(place, name, row.get(name)) for name in ("text", "text_pair"))
    if first is None and second is not None:
        raise AttrialError(f"{place}: 'text_pair' is there without 'text'")
    return tuple(text for text in (first, second) if text is not None)


def _list(place: str, name: str, value: object, of: str) -> Sequence[object]:
    tolist = getattr(value, "tolist", None)
    value = tolist() if callable(tolist) else value
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise AttrialError(f"{place}: {name} is {shown(value)}; a list of {of} is expected")
    return value


def _players(place: str, value: object) -> tuple[str, ...]:
    found = _list(place, "players", value, "strings")
    for number, player in enumerate(found):
        if not isinstance(player, str):
            raise AttrialError(f"{place}: player {number} is {shown(player)}, which is no string")
    return tuple(map(str, found))


def _scores(place: str, value: object, players: Sequence[str]) -> tuple[float, ...]:
    found = _list(place, "scores", value, "numbers")
    if len(found) != len(players):
        raise AttrialError(f"{place}: {len(found)} scores for {len(players)} players")
    return tuple(_finite(place, k, players[k], score) for k, score in enumerate(found))


def _finite(place: str, number: int, player: str, score: object) -> float:
    where = f"{place}: score {number}, of {shown(player)}, is {shown(score)}"
    if isinstance(score, bool) or not isinstance(score, Real):
        raise AttrialError(f"{where}; a number is expected")
    try:
        found = float(score)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise AttrialError(f"{where}; a finite number is expected")
    return found


def _target(place: str, value: object) -> int | str | None:
    if _absent(value):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)  # a frame's column of whole numbers with gaps
    if isinstance(value, bool) or not isinstance(value, str | Integral):
        raise AttrialError(f"{place}: target {shown(value)} is neither a class number nor a label")
    return value if isinstance(value, str) else int(value)


def named_alike(found: Iterable[Attribution]) -> dict[str, list[Attribution]]:
    """Attributions by their method, in the order of their first rows."""
    by: dict[str, list[Attribution]] = {}
    for one in found:
        by.setdefault(one.method, []).append(one)
    return by
