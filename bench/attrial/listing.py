"""What is installed, as a table for a terminal or a pipe; reads plugins' files, imports none."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from attrial import registry
from attrial.facts import KINDS, arguments, facts

INDENT = "    "
BELOW = ("arguments", "shipped_by", "summary")  # stand under a row, not in it


def lines(kind: str, width: int | None = None) -> Iterator[str]:
    """The plugins of a kind with what they declare.

    Args:
        kind: ``methods``, ``metrics`` and so on.
        width: Columns of the terminal: a row each, with its options, who ships it and its summary
            below. None for a pipe: one line each with tabs between, the first one the header.
    """
    rows = [_task(p) if kind == "tasks" else _code(kind, p) for p in _plugins(kind)]
    return _tabbed(rows) if width is None else _aligned(kind, rows, max(width, 40))


def one(kind: str, name: str) -> str:
    """All that is said of one plugin: declarations and docstring, or a task's file."""
    plugin = registry.plugin(kind, name)
    if kind == "tasks":
        return plugin.path.read_text().rstrip()
    found = registry.declared(plugin)
    said = ", ".join(f"{column}: {words}" for column, words in facts(kind, found).items())
    head = f"{plugin.name}({arguments(found)})  [{plugin.shipped_by}]"
    return "\n".join([head, said, "", found.doc])


Cells = dict[str, str]  # a plugin's cells by column


def _plugins(kind: str) -> Sequence[registry.Plugin]:
    return list(registry.plugins(kind).values())


def _code(kind: str, plugin: registry.Plugin) -> Cells:
    found = registry.declared(plugin)
    ends = {
        "arguments": arguments(found),
        "shipped_by": plugin.shipped_by,
        "summary": found.summary,
    }
    return {"name": plugin.name, **facts(kind, found), **ends}


def _task(plugin: registry.Plugin) -> Cells:
    from attrial.task import load_task  # only where tasks are listed: the rest stays quick

    task = load_task(plugin.path)
    return {
        "name": plugin.name,
        "model": task.asks,
        "needs": task.needs or "nothing",
        "shipped_by": plugin.shipped_by,
        "summary": " ".join(task.description.split()),
    }


def _tabbed(rows: Sequence[Cells]) -> Iterator[str]:
    if rows:
        yield "\t".join(rows[0])
    for row in rows:
        yield "\t".join(row.values())


def _aligned(kind: str, rows: Sequence[Cells], width: int) -> Iterator[str]:
    columns = _columns(rows, width)
    yield _padded({c: c for c in columns}, columns)
    for row in rows:
        yield _padded(row, columns)
        yield from _wrapped(_below(row, columns), width)
        yield from _wrapped(row["summary"], width)
    if kind in KINDS:
        yield ""
        yield from textwrap.wrap(KINDS[kind].key, width)


def _columns(rows: Sequence[Cells], width: int) -> dict[str, int]:
    """The columns that fit the width, from the first on, and how wide each is."""
    found: dict[str, int] = {}
    for column in rows[0] if rows else {}:
        wide = max(len(column), *(len(row[column]) for row in rows))
        if column in BELOW or sum(found.values()) + 2 * len(found) + wide > width:
            break
        found[column] = wide
    return found


def _padded(cells: Cells, columns: Mapping[str, int]) -> str:
    return "  ".join(cells[c].ljust(w) for c, w in columns.items()).rstrip()


def _below(row: Cells, columns: Mapping[str, int]) -> str:
    """Options, what found no room, and who ships it."""
    options = [f"({row['arguments']})"] if row.get("arguments") else []
    left = [f"{c}: {words}" for c, words in row.items() if c not in columns and c not in BELOW]
    return "  ".join([*options, *left, f"[{row['shipped_by']}]"])


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=INDENT,
        subsequent_indent=INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
