"""The page of a plugin and the index of a kind, in Markdown; pure, from what files declare."""

import re
from collections.abc import Mapping, Sequence

from attrial import docstring
from attrial.facts import KINDS, NONE, arguments, facts
from attrial.registry import Declared

MADE = "<!-- Made by `python -m attrial.docs docs` from the docstring; edit that. -->"
CODE = {"Formula"}  # sections whose lines stay as they are
SHOWN_APART = {"Args", "Raises"}


def page(
    kind: str, name: str, found: Declared, *, note: str = "", known: Mapping[str, str] | None = None
) -> str:
    """The page of one plugin.

    Args:
        kind: ``methods``, ``metrics`` and so on.
        name: Of the plugin.
        found: What its file says.
        note: Markdown that is put at the end, "" for none.
        known: Where the pages of other plugins are, by their names: they become links.
    """
    parts = docstring.read(found.doc)
    others = {k: v for k, v in (known or {}).items() if k != name}
    source = f"{KINDS[kind].source}/{name}.py"
    blocks = [
        MADE,
        f"# {name}",
        parts.summary,
        linked(prose(parts.about), others),
        _declared(kind, found),
        *(_section(h, t, others) for h, t in parts.sections.items() if h not in SHOWN_APART),
        _options(found, parts),
        _raises(parts),
        note.strip(),
        f"[Source](../../{source}) · [all {kind}](README.md)",
    ]
    return "\n\n".join(b for b in blocks if b) + "\n"


def index(kind: str, found: Mapping[str, Declared], *, note: str = "") -> str:
    """The index of a kind: what each one declares, its options, and what it is.

    Args:
        kind: ``methods``, ``metrics`` and so on.
        found: What the plugins' files say, by name.
        note: Markdown above the table, "" for none.
    """
    rows = [_row(kind, name, declared) for name, declared in found.items()]
    table = _table(list(rows[0]), [list(row.values()) for row in rows]) if rows else ""
    blocks = [MADE, f"# {kind.capitalize()}", note.strip(), table, prose(KINDS[kind].key)]
    return "\n\n".join(b for b in blocks if b) + "\n"


def _row(kind: str, name: str, found: Declared) -> dict[str, str]:
    parts = docstring.read(found.doc)
    ranged = "Range" in KINDS[kind].sections
    return {
        KINDS[kind].one: f"[{name}]({name}.md)",
        **facts(kind, found),
        **({"range": short(parts.sections.get("Range", NONE))} if ranged else {}),
        "options": f"`{arguments(found)}`" if found.parameters else NONE,
        "what it is": parts.summary,
    }


def short(text: str) -> str:
    """A section up to its first semicolon or full stop.

    >>> short("0 to 1.5; 0 for none. Other.")
    '0 to 1.5'
    """
    return re.split(r"[;.](?:\s|$)", " ".join(text.split()), maxsplit=1)[0]


def prose(text: str) -> str:
    r"""Paragraphs on one line each, marked as Markdown has it, with links to papers.

    >>> prose("See ``aopc``\nin arXiv:2408.08137.")
    'See `aopc` in [arXiv:2408.08137](https://arxiv.org/abs/2408.08137).'
    """
    flat = docstring.paragraphs(text).replace("``", "`")
    return re.sub(r"arXiv:(\d{4}\.\d{4,5})", r"[\g<0>](https://arxiv.org/abs/\1)", flat)


def linked(text: str, known: Mapping[str, str]) -> str:
    """Names in code marks that have a page become links to it.

    >>> linked("Beside `aopc` and `k`.", {"aopc": "aopc.md"})
    'Beside [`aopc`](aopc.md) and `k`.'
    """

    def link(found: re.Match[str]) -> str:
        return f"[{found[0]}]({known[found[1]]})" if found[1] in known else found[0]

    return re.sub(r"`(\w+)`", link, text)


def _section(heading: str, text: str, known: Mapping[str, str]) -> str:
    body = f"```text\n{text}\n```" if heading in CODE else linked(prose(text), known)
    return f"## {heading}\n\n{body}"


def _declared(kind: str, found: Declared) -> str:
    shown = {**facts(kind, found), "version": str(found.constants.get("VERSION", NONE))}
    return _table(list(shown), [list(shown.values())])


def _options(found: Declared, parts: docstring.Docstring) -> str:
    said = docstring.entries(parts.sections.get("Args", ""))
    rows = [
        [f"`{name}`", f"`{found.parameters[name]}`" if found.parameters.get(name) else "", text]
        for name, text in said.items()
        if name != "x"
    ]
    if not rows:
        return ""
    return "## Arguments\n\n" + _table(["argument", "default", "what it is"], rows)


def _raises(parts: docstring.Docstring) -> str:
    said = docstring.entries(parts.sections.get("Raises", ""))
    lines = [f"- `{name}`: {prose(text)}" for name, text in said.items()]
    return "## Raises\n\n" + "\n".join(lines) if lines else ""


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(_cell(c) for c in line)} |" for line in lines)


def _cell(text: str) -> str:
    return prose(text).replace("|", "\\|")
