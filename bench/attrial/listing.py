"""What is installed, in lines for a terminal; reads plugins' files and imports none."""

import textwrap
import tomllib
from collections.abc import Iterator

from attrial import registry


def lines(kind: str) -> Iterator[str]:
    """Two lines a plugin: its name with arguments and defaults and who ships it, what it is."""
    for plugin in registry.plugins(kind).values():
        head, summary = _task(plugin) if kind == "tasks" else _code(plugin)
        yield f"{head}  [{plugin.shipped_by}]"
        yield textwrap.indent(textwrap.fill(summary, 96), "    ")


def _code(plugin: registry.Plugin) -> tuple[str, str]:
    found = registry.declared(plugin)
    arguments = ", ".join(f"{k}={v}" if v else k for k, v in found.parameters.items())
    return f"{plugin.name}({arguments})", found.summary


def _task(plugin: registry.Plugin) -> tuple[str, str]:
    described = tomllib.loads(plugin.path.read_text()).get("description", "")
    return plugin.name, str(described)
