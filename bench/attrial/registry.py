"""Plugins by name: one file, one plugin; listing reads files and imports none of them.

A package joins by an entry point in the group ``attrial.methods``, ``attrial.metrics``,
``attrial.removals`` or ``attrial.tasks``. A method's or metric's file may also be given by path.
"""

import ast
import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from attrial.errors import AttrialError, near, one_line

CODE = ("methods", "metrics", "removals", "checks")


@dataclass(frozen=True)
class Plugin:
    """Where a plugin lives and who ships it; both go into the record of a run."""

    name: str
    module: str
    path: Path
    shipped_by: str

    def load(self) -> ModuleType:
        """Import the module: by its name, or from its file where no package holds it."""
        if self.module.startswith("file:"):
            return _load_file(self.path)
        try:
            return importlib.import_module(self.module)
        except Exception as error:
            raise AttrialError(
                f"{self.name} of {self.shipped_by} fails to import: {one_line(error)}"
            ) from error

    def function(self) -> Callable[..., object]:
        """The one function that the module is named after."""
        found = getattr(self.load(), self.name, None)
        if not callable(found):
            raise AttrialError(
                f"{self.path} must define a function named {self.name!r}, as its file"
            )
        return found  # type: ignore[no-any-return]  # callable() tells no signature


@cache
def _load_file(path: Path) -> ModuleType:
    name = f"attrial_file_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise AttrialError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise AttrialError(f"{path} fails to import: {one_line(error)}") from error
    return module


def _folders(entry: EntryPoint) -> list[Path]:
    try:
        spec = importlib.util.find_spec(entry.value)
    except ModuleNotFoundError:
        spec = None
    if spec is None:
        raise AttrialError(f"entry point {entry.group} = {entry.value!r} names no package")
    return [Path(p) for p in spec.submodule_search_locations or ()]


def _shipped_by(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "unknown"


def _files(entry: EntryPoint, suffix: str) -> list[Plugin]:
    shipped_by = _shipped_by(entry)  # reads a file
    return [
        Plugin(path.stem, f"{entry.value}.{path.stem}", path, shipped_by)
        for folder in _folders(entry)
        for path in sorted(folder.glob(f"*{suffix}"))
        if not path.stem.startswith("_")
    ]


@cache
def plugins(kind: str) -> dict[str, Plugin]:
    """All plugins of a kind (``methods``, ``metrics``, ``removals``, ``tasks``), by name.

    Raises:
        AttrialError: If two packages ship one name.
    """
    found: dict[str, Plugin] = {}
    for entry in sorted(entry_points(group=f"attrial.{kind}"), key=lambda e: (e.value, e.name)):
        for plugin in _files(entry, ".py" if kind in CODE else ".toml"):
            other = found.setdefault(plugin.name, plugin)
            if other.path != plugin.path:
                raise AttrialError(
                    f"two {kind} named {plugin.name!r}: {other.shipped_by}, {plugin.shipped_by}"
                )
    return dict(sorted(found.items()))


def plugin(kind: str, name: str) -> Plugin:
    """The plugin of that name (or, for code, at that path ending in ``.py``).

    Raises:
        AttrialError: If there is none; near names are offered.
    """
    if kind in CODE and name.endswith(".py"):
        return _at_path(Path(name))
    known = plugins(kind)
    if name not in known:
        raise AttrialError(f"no {kind.removesuffix('s')} {name!r}; {near(name, known)}")
    return known[name]


def _at_path(path: Path) -> Plugin:
    if not path.is_file():
        raise AttrialError(f"no file {path}")
    if not path.stem.isidentifier():
        raise AttrialError(f"{path}: the file's name must be that of its function")
    return Plugin(path.stem, f"file:{path.name}", path.resolve(), f"file {path.name}")


def content_digest(path: Path) -> str:
    """Short sha256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


@dataclass(frozen=True)
class Call:
    """A plugin's name with arguments, as written: ``integrated_gradients(steps=30)``."""

    name: str
    args: dict[str, object]
    text: str


def parse_call(text: str) -> Call:
    """Read ``name`` or ``name(key=literal, ...)``; a path may stand for the name.

    >>> parse_call("occlusion(window=2)")
    Call(name='occlusion', args={'window': 2}, text='occlusion(window=2)')

    Raises:
        AttrialError: If it is neither; nothing is ever evaluated but literals.
    """
    text = text.strip()
    name, bracket, rest = text.partition("(")
    if not bracket:
        return Call(name, {}, text)
    try:
        node = ast.parse(f"f({rest}", mode="eval").body
        if not _plain(node):
            raise ValueError(text)
        assert isinstance(node, ast.Call)
        args = {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
    except (ValueError, SyntaxError):
        raise AttrialError(
            f"can't read {text!r}; write it as name(steps=30), literals only"
        ) from None
    return Call(name.strip(), args, text)


def _plain(node: ast.expr) -> bool:
    """Whether it is one call with named arguments alone."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    return not node.args and all(k.arg is not None for k in node.keywords)


@dataclass(frozen=True)
class Declared:
    """What a plugin's file says of itself, read without importing it."""

    summary: str
    parameters: dict[str, str]  # name -> default as written
    constants: dict[str, object]
    doc: str = ""  # the docstring, cleaned
    functions: frozenset[str] = frozenset()  # public ones of the file


def declared(plugin: Plugin) -> Declared:
    """Summary, options with defaults, and literal constants of a plugin's file."""
    try:
        tree = ast.parse(plugin.path.read_text())
    except SyntaxError as error:
        raise AttrialError(f"{plugin.path}: line {error.lineno}: {error.msg}") from None
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    if plugin.name not in functions:
        raise AttrialError(
            f"{plugin.path} must define a function named {plugin.name!r}, as its file"
        )
    function = functions[plugin.name]
    doc = ast.get_docstring(function) or ast.get_docstring(tree) or ""
    named = frozenset(name for name in functions if not name.startswith("_"))
    summary = doc.partition("\n")[0]
    return Declared(summary, _parameters(function), _constants(tree), doc, named)


def _parameters(function: ast.FunctionDef) -> dict[str, str]:
    pairs = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return {a.arg: ast.unparse(d) if d else "" for a, d in pairs if a.arg != "seed"}


def _constants(tree: ast.Module) -> dict[str, object]:
    found: dict[str, object] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name.isupper():
                found[name] = _literal(node.value)
    return found


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)
