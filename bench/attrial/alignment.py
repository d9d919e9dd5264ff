"""Whether attributions that were made elsewhere fit a task's examples, and why not. Pure."""

from collections.abc import Mapping, Sequence

from attrial.attribution import Attribution, shown
from attrial.errors import AttrialError
from attrial.example import Example

FEW = 3  # examples that a message names
MARKS = ("##", "Ġ", "▁", "Ċ")  # how tokenizers mark the pieces of words
SPECIAL = ("[CLS]", "[SEP]", "<s>", "</s>", "<|endoftext|>")
SUM = (
    "sum the scores of each word's tokens (right for additive attributions, such as Shapley values "
    "and integrated gradients) and leave special tokens out"
)


def matched(
    method: str, rows: Sequence[Attribution], known: Mapping[str, tuple[str, ...]]
) -> dict[str, Attribution]:
    """The attribution of each example that has one, by the example's id.

    Args:
        method: Whose they are.
        rows: By id, or by text; a text that several examples share serves all of them.
        known: The texts of all examples of the task, by id.

    Raises:
        AttrialError: If one is of no known example, or an example has two.
    """
    by_text: dict[tuple[str, ...], list[str]] = {}
    for id, texts in known.items():
        by_text.setdefault(texts, []).append(id)
    found: dict[str, Attribution] = {}
    for row in rows:
        ids = by_text.get(row.texts, []) if row.id is None else [row.id]
        if not ids or ids[0] not in known:
            raise AttrialError(_unknown(row, known))
        for id in ids:
            if id in found:
                raise AttrialError(_twice(method, id, found[id], row))
            found[id] = _same_text(row, known[id])
    return found


def _unknown(row: Attribution, known: Mapping[str, tuple[str, ...]]) -> str:
    if row.id is None:
        return f"{row.place}: the task has no example with the text {row.key}{_pairing(row, known)}"
    ids = list(known)
    return (
        f"{row.place}: the task has no example {row.key}; its {len(ids)} ids are "
        f"{shown(ids[0])} to {shown(ids[-1])}"
    )


def _pairing(row: Attribution, known: Mapping[str, tuple[str, ...]]) -> str:
    widths = {len(texts) for texts in known.values()}
    if len(row.texts) in widths:
        return ""
    way = "pairs: give 'text_pair' too" if 2 in widths else "single texts: leave 'text_pair' out"
    return f"; its examples are {way}"


def _twice(method: str, id: str, first: Attribution, second: Attribution) -> str:
    return (
        f"{second.place}: method {shown(method)} has example {shown(id)} twice, "
        f"the first time at {first.place}"
    )


def _same_text(row: Attribution, texts: tuple[str, ...]) -> Attribution:
    if row.texts and row.texts != texts:
        raise AttrialError(
            f"{row.place}: example {row.key} has the text {shown(texts[0])} in the task, "
            f"{row.key} and {shown(row.texts[0])} here"
        )
    return row


def check_all_there(
    method: str, found: Mapping[str, Attribution], examples: Sequence[Example], *, partial: bool
) -> None:
    """Make sure that every example has its attribution, or with ``partial`` at least one.

    Raises:
        AttrialError: With how many have none, and the first of them.
    """
    missing = [x.id for x in examples if x.id not in found]
    if not missing or (partial and len(missing) < len(examples)):
        return
    few = ", ".join(map(shown, missing[:FEW])) + (", …" if len(missing) > FEW else "")
    way = "" if partial else "; --partial (partial=True) counts them as undefined"
    raise AttrialError(
        f"method {shown(method)} has no attribution for {len(missing)} of the {len(examples)} "
        f"examples: {few}{way}"
    )


def check_players(row: Attribution, x: Example, kind: str) -> None:
    """Make sure that an attribution is about the players of the task's example.

    Args:
        row: The attribution.
        x: The task's example.
        kind: What its players are: ``words`` or ``tokens``.

    Raises:
        AttrialError: With the first place where they differ, and a hint where one is at hand.
    """
    if row.players == x.players:
        return
    pairs = enumerate(zip(x.players, row.players, strict=False))
    at = next((k for k, (a, b) in pairs if a != b), min(x.n, len(row.players)))
    expected, got = (_at(names, at) for names in (x.players, row.players))
    raise AttrialError(
        f"{row.place}: example {shown(x.id)}, player {at}: the task has {expected}, this has {got} "
        f"({x.n} and {len(row.players)} players){_hint(row, x, kind, at)}"
    )


def _at(names: Sequence[str], at: int) -> str:
    return shown(names[at]) if at < len(names) else "no more"


def _hint(row: Attribution, x: Example, kind: str, at: int) -> str:
    if _pieces(row.players):
        if kind == "words":
            return f"; these look like tokens, the task's players are words: {SUM}"
        return "; tokens are named as they stand in the text, without marks, special ones left out"
    if x.truncated and at == x.n:
        return f"; the model takes no more: leave out what was cut (words: {x.truncated})"
    inside = at < min(x.n, len(row.players))
    if inside and row.players[at].casefold() == x.players[at].casefold():
        return "; they differ in case alone: players are named as they stand in the text"
    if kind == "words":
        return "; words are what stands between white space, punctuation and case included"
    return ""


def _pieces(players: Sequence[str]) -> bool:
    return any(p.startswith(MARKS) or p in SPECIAL or p.endswith("</w>") for p in players)


def check_target(row: Attribution, x: Example, predicted: int, labels: Sequence[str]) -> None:
    """Make sure that an attribution explains the class that the model predicts.

    Raises:
        AttrialError: If it names another class, or none of the model's.
    """
    if row.target is None:
        return
    index = row.target if isinstance(row.target, int) else _label(row, labels)
    if not 0 <= index < len(labels):
        raise AttrialError(f"{row.place}: target {row.target}; {_classes(labels)}")
    if index != predicted:
        raise AttrialError(
            f"{row.place}: example {shown(x.id)}: the attribution explains class {index} "
            f"({labels[index]}), but the model predicts {predicted} ({labels[predicted]}), "
            "which is the class that the task explains"
        )


def _label(row: Attribution, labels: Sequence[str]) -> int:
    if row.target not in labels:
        raise AttrialError(f"{row.place}: target {shown(row.target)}; {_classes(labels)}")
    return list(labels).index(str(row.target))


def _classes(labels: Sequence[str]) -> str:
    told = ", ".join(f"{i} ({name})" for i, name in enumerate(labels))
    return f"the model's classes are {told}"
