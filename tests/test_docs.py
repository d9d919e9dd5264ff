"""Pages of plugins: made from their files, complete, true to what they declare, and committed."""

import inspect
import re
import shutil
from pathlib import Path

import pytest

from attrial import docs, docstring, pages, registry
from attrial.errors import AttrialError
from attrial.facts import KINDS
from attrial.registry import Declared

DOCS = Path(__file__).parents[1] / "docs"
PLUGINS = [(kind, name) for kind in KINDS for name in registry.plugins(kind)]
OURS = [
    (kind, name)
    for kind, name in PLUGINS
    if registry.plugin(kind, name).shipped_by.startswith(docs.OURS)
]  # other packages may be installed beside


def said(kind: str, name: str) -> tuple[Declared, docstring.Docstring]:
    found = registry.declared(registry.plugin(kind, name))
    return found, docstring.read(found.doc)


def test_committed_pages_are_what_would_be_made() -> None:
    assert docs.stale(DOCS) == [], "run: python -m attrial.docs docs"


@pytest.mark.parametrize(("kind", "name"), OURS)
def test_every_section_is_there_and_says_something(kind: str, name: str) -> None:
    _, parts = said(kind, name)
    for heading in (*KINDS[kind].sections, "Args"):
        assert len(parts.sections.get(heading, "").strip()) > 2, heading


@pytest.mark.parametrize("name", [n for k, n in OURS if k == "metrics"])
def test_the_direction_is_the_declared_one(name: str) -> None:
    found, parts = said("metrics", name)
    assert parts.sections["Direction"].lower().startswith(str(found.constants["DIRECTION"]))
    assert parts.summary.endswith(parts.sections["Direction"])


@pytest.mark.parametrize(("kind", "name"), OURS)
def test_arguments_are_described_each_and_no_other(kind: str, name: str) -> None:
    _, parts = said(kind, name)
    described = docstring.entries(parts.sections["Args"])
    signature = inspect.signature(registry.plugin(kind, name).function())
    assert list(described) == list(signature.parameters)


def test_a_changed_an_absent_and_a_foreign_page_are_found_and_mended(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    shutil.copytree(DOCS, folder)
    changed, absent = folder / "methods/shapley.md", folder / "metrics/aopc.md"
    foreign = folder / "metrics/gone.md"
    changed.write_text(changed.read_text().replace("Shapley", "shapely"))
    absent.unlink()
    foreign.write_text("of a metric that was taken away")
    assert sorted(docs.stale(folder)) == sorted([changed, absent, foreign])
    assert docs.main([str(folder), "--check"]) == 1 and foreign.exists()
    assert docs.main([str(folder)]) == 0 and docs.stale(folder) == []
    assert not foreign.exists() and absent.exists()
    with pytest.raises(AttrialError, match="one folder"):
        docs.main([])


def test_notes_belong_to_pages() -> None:
    notes = DOCS / "notes"
    for note in notes.rglob("*.md"):
        page = DOCS / note.relative_to(notes)
        assert note.read_text().strip() in page.read_text()


def test_links_within_the_documentation_lead_somewhere() -> None:
    links = [
        (page, target)
        for page in DOCS.rglob("*.md")
        if DOCS / "notes" not in page.parents
        for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text())
        if not target.startswith("http")
    ]
    assert len(links) > 100
    assert [(p, t) for p, t in links if not (p.parent / t).exists()] == []


def test_a_page_shows_options_formula_note_and_links() -> None:
    doc = (
        "Sum.\n\nBeside ``other``.\n\nFormula:\n    a | b\n      c\n\nSource:\n"
        "    arXiv:1234.56789.\n\nArgs:\n    x: It.\n    steps: How\n        many|few."
    )
    found = Declared("Sum.", {"steps": "3"}, {"SIGN": "signed", "ASKS": ()}, doc)
    page = pages.page("methods", "mine", found, note="A note.\n", known={"other": "o.md"})
    assert "```text\na | b\n  c\n```" in page and "Beside [`other`](o.md)." in page
    assert (
        "| `steps` | `3` | How many\\|few. |" in page and "| signed | - | - | - | - | - |" in page
    )
    assert "[arXiv:1234.56789](https://arxiv.org/abs/1234.56789)" in page
    assert page.index("A note.") > page.index("`steps`") and "`x`" not in page
