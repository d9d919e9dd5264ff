"""Writes the pages of all plugins that attrial ships: python -m attrial.docs FOLDER [--check]."""

import sys
from collections.abc import Mapping
from pathlib import Path

from attrial import pages, registry
from attrial.errors import AttrialError
from attrial.facts import KINDS
from attrial.registry import Plugin

OURS = "attrial "  # a distribution's name, before its version
NAMED = ("methods", "metrics")  # whose names become links: those of removals are options' values


def made(folder: Path) -> dict[Path, str]:
    """Every generated page of a folder of documentation, by where it belongs.

    What can't be read off a plugin stands in ``notes/KIND/NAME.md`` (``README.md`` for an index)
    and is put into its page.
    """
    shipped = {kind: _built_in(kind) for kind in KINDS}
    pages_of = {k: f"../{kind}/{k}.md" for kind in NAMED for k in shipped[kind]}
    return {
        folder / kind / name: text
        for kind, plugins in shipped.items()
        for name, text in _of_kind(kind, plugins, folder / "notes" / kind, pages_of).items()
    }


def _built_in(kind: str) -> dict[str, Plugin]:
    found = registry.plugins(kind)
    return {name: p for name, p in found.items() if p.shipped_by.startswith(OURS)}


def _of_kind(
    kind: str, plugins: Mapping[str, Plugin], notes: Path, known: Mapping[str, str]
) -> dict[str, str]:
    if not plugins:
        return {}
    said = {name: registry.declared(plugin) for name, plugin in plugins.items()}
    texts = {
        f"{name}.md": pages.page(kind, name, found, note=_note(notes / f"{name}.md"), known=known)
        for name, found in said.items()
    }
    return {"README.md": pages.index(kind, said, note=_note(notes / "README.md")), **texts}


def _note(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


def stale(folder: Path) -> list[Path]:
    """Pages that are absent, differ from what would be made, or belong to no plugin any more."""
    wanted = made(folder)
    there = [p for kind in KINDS for p in sorted((folder / kind).glob("*.md"))]
    wrong = [p for p, text in wanted.items() if not p.is_file() or p.read_text() != text]
    return wrong + [p for p in there if p not in wanted]


def write(folder: Path) -> list[Path]:
    """Bring all pages up to date: those that were written or taken away."""
    wanted, changed = made(folder), stale(folder)
    for path in changed:
        if path in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path])
        else:
            path.unlink()
    return changed


def main(words: list[str]) -> int:
    """Write or check; 1 if a check finds a page that isn't what it would be.

    Raises:
        AttrialError: If it isn't given one folder, or a plugin's file can't be read.
    """
    folders = [Path(w) for w in words if w != "--check"]
    if len(folders) != 1 or not folders[0].is_dir():
        raise AttrialError("it takes one folder: python -m attrial.docs docs [--check]")
    check = "--check" in words
    changed = stale(folders[0]) if check else write(folders[0])
    for path in changed:
        print(path)
    return int(check and bool(changed))


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except AttrialError as error:
        sys.exit(f"attrial: {error}")
