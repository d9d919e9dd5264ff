"""The errors that attrial speaks to people with: one line each, saying what would be right."""

import difflib
from collections.abc import Iterable


class AttrialError(Exception):
    """A fault of the input, told in one clear line; the command line exits with code 2."""


NOT_APPLICABLE = "not applicable"  # how the reason of such a cell begins


class NotApplicable(AttrialError):
    """A model that can't answer what a method asks, with the missing capability named."""


class Undefined(Exception):
    """A cell without a value, with its reason. Counted on the board, never filled."""


def one_line(error: Exception) -> str:
    r"""An exception's kind and what it says, in one line.

    >>> one_line(KeyError("gone")), one_line(ValueError("two\nlines"))
    ("KeyError: 'gone'", 'ValueError: two lines')
    """
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def near(name: str, known: Iterable[str]) -> str:
    """The end of an error about a wrong name: near names, or all of them.

    >>> near("oclusion", ["occlusion", "random"])
    'did you mean occlusion?'
    >>> near("zzz", ["b", "a"])
    'known are a, b'
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names)
    return f"did you mean {' or '.join(close)}?" if close else f"known are {', '.join(names)}"
