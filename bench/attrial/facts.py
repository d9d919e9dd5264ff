"""What plugins of a kind declare of themselves, in the words of a table."""

from collections.abc import Mapping
from dataclasses import dataclass

from attrial.registry import Declared

NONE = "-"


@dataclass(frozen=True)
class Kind:
    """How plugins of a kind are shown.

    Attributes:
        one: What one of them is called.
        facts: Constants of its module by the column that shows them.
        key: What the columns mean, for a reader of the table.
        sections: Headings that each one's docstring must have, besides ``Args``.
        source: Folder of the built-in ones in the repository.
    """

    one: str
    facts: Mapping[str, str]
    key: str
    sections: tuple[str, ...]
    source: str


KINDS: Mapping[str, Kind] = {
    "methods": Kind(
        "method",
        {
            "sign": "SIGN",
            "class": "CLASS_SPECIFIC",
            "adds": "ADDITIVE",
            "draws": "STOCHASTIC",
            "asks": "ASKS",
            "budget": "BUDGET",
        },
        "class: explains one class, not the input alone; adds: scores sum to the change of the "
        "value; draws: random, by a seed; asks: questions to the model; "
        "budget: the option that --budget fills in",
        ("Formula", "Source", "Traps"),
        "methods/attrial_methods",
    ),
    "metrics": Kind(
        "metric",
        {
            "better": "DIRECTION",
            "reads": "READS",
            "family": "FAMILY",
            "unit": "UNIT",
            "ranks": "RANKED",
        },
        "better: which values; reads: function of the outputs; ranks: only the order of scores "
        "matters; normalised: placed between the worst order (0) and the best (1) of the same "
        "input",
        ("Formula", "Range", "Direction", "Source", "When not to use"),
        "bench/attrial/metrics",
    ),
    "removals": Kind(
        "removal",
        {"needs": "NEEDS"},
        "needs: what the tokenizer must have",
        ("Effect", "Source", "When not to use"),
        "bench/attrial/removals",
    ),
    "checks": Kind(
        "check",
        {"rule": "RULE", "against": "NULL", "better": "DIRECTION", "unit": "UNIT"},
        "rule: how the measure must lie to the value that it is held against; better: which values",
        (),
        "bench/attrial/checks",
    ),
}


def facts(kind: str, found: Declared) -> dict[str, str]:
    """Column to words, for one plugin."""
    shown = {
        name: _words(found.constants.get(constant)) for name, constant in KINDS[kind].facts.items()
    }
    if kind == "metrics":
        shown["normalised"] = _words("extremes" in found.functions)
    return shown


def arguments(found: Declared) -> str:
    """Options with defaults, as a call has them.

    >>> arguments(Declared("", {"steps": "20", "row": ""}, {}))
    'steps=20, row'
    """
    return ", ".join(f"{k}={v}" if v else k for k, v in found.parameters.items())


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or NONE
    return NONE if value in (None, "") else str(value)
