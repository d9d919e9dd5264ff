"""Faults of a TOML file's fields, told as their authors wrote them."""

from collections.abc import Mapping

from pydantic import BaseModel, ValidationError

from attrial.errors import near


def fault(error: ValidationError, tables: Mapping[str, type[BaseModel]]) -> str:
    """The first fault of a file: its field, and what would be right.

    Args:
        error: What checking the file raised.
        tables: The model of each table by its name; "" for the file itself.
    """
    first = error.errors()[0]
    names = [part for part in first["loc"] if not isinstance(part, int)]
    where = ".".join(map(str, names))
    table, _, name = where.rpartition(".")
    if first["type"] == "extra_forbidden":
        return f"no field {where!r}; {near(name, tables[table].model_fields)}"
    what = _what(str(first["type"]), str(first["msg"]))
    entries = [part for part in first["loc"] if isinstance(part, int)]
    where += f", entry {entries[0]}" if entries else ""
    return f"{where}: {what}" if where else what


def _what(kind: str, message: str) -> str:
    """TOML has lists and tables, where Python has tuples and objects."""
    if kind == "tuple_type":
        return 'a list is expected, such as ["a", "b"]'
    if kind in ("model_type", "model_attributes_type"):
        return "a table is expected"
    return message.removeprefix("Value error, ")
