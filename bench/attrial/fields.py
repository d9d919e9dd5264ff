"""Faults of a TOML file's fields, told as their authors wrote them."""

from collections.abc import Mapping

from pydantic import BaseModel, ValidationError

from attrial.errors import near


def fault(error: ValidationError, tables: Mapping[str, type[BaseModel]]) -> str:
    """The first fault of a file: its field, and what would be right.

    A field that there isn't comes before one that is missing: often it is that one, misspelt.

    Args:
        error: What checking the file raised.
        tables: The model of each table by its name; "" for the file itself.
    """
    found = error.errors()
    first = next((e for e in found if e["type"] == "extra_forbidden"), found[0])
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
    return plainly(message)


def plainly(message: str) -> str:
    """What was said of a value, without the name of the error that said it.

    >>> plainly("Invalid value for 'kind': Value error, 'x' is not one of 'a'")
    "Invalid value for 'kind': 'x' is not one of 'a'"
    """
    return message.replace("Value error, ", "", 1)
