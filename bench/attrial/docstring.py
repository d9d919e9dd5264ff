"""A docstring in parts: its first line, what stands below it, and its sections by name."""

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

HEADING = re.compile(r"([A-Z][A-Za-z ]*):")
ENTRY = re.compile(r"(\w+): (.*)")


@dataclass(frozen=True)
class Docstring:
    """The parts of a docstring in Google's style.

    Attributes:
        summary: Its first line.
        about: What stands between that and the first section, "" for nothing.
        sections: Text by heading, dedented; lines stay as they are.
    """

    summary: str
    about: str
    sections: Mapping[str, str]


def read(text: str) -> Docstring:
    r"""Take a cleaned docstring apart.

    >>> read("Sum.\n\nOf all.\n\nRange:\n    0 to 1.").sections
    {'Range': '0 to 1.'}
    """
    summary, _, rest = text.partition("\n")
    parts = dict(_parts(rest))
    about = parts.pop("")
    return Docstring(summary, about, parts)


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Pairs of a heading and its text; first what has none."""
    heading, held = "", list[str]()
    for line in text.splitlines():
        found = HEADING.fullmatch(line)
        if found:
            yield heading, _dedented(held)
            heading, held = found[1], []
        else:
            held.append(line)
    yield heading, _dedented(held)


def _dedented(lines: list[str]) -> str:
    return textwrap.dedent("\n".join(lines)).strip("\n")


def entries(section: str) -> dict[str, str]:
    r"""What a section like ``Args`` says of each name, on one line.

    >>> entries("steps: How many\n    points.\nseed: Unused.")
    {'steps': 'How many points.', 'seed': 'Unused.'}
    """
    found: dict[str, str] = {}
    name = ""
    for line in section.splitlines():
        start = ENTRY.fullmatch(line)
        if start:
            name, found[start[1]] = start[1], start[2]
        elif name:
            found[name] += " " + line.strip()
    return found


def paragraphs(text: str) -> str:
    r"""Prose with each paragraph on one line.

    >>> paragraphs("One\ntwo.\n\nThree.")
    'One two.\n\nThree.'
    """
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))
