"""One number of model rows for all that samples: a method's call with its budget filled in.

A method that samples names the option that counts its rows in a literal constant of its module,
``BUDGET = "samples"``; where a sample is not one row, ``BUDGET_ROWS = (2, 1)`` says how many each
takes, and how many are asked beside them.
"""

from typing import cast

from attrial import registry
from attrial.errors import AttrialError

LEAST = 10  # below it some methods can't draw at all
EXACT = "exact_up_to"  # up to how many players a method asks all sets, whatever that costs


def within(text: str, rows: int) -> str:
    """A method's call with at most so many rows: as a person would write it, so that it is shown.

    Options that ``text`` gives by name stay as they are, and methods without a budget too.

    Raises:
        AttrialError: For a budget too small, an unknown method, or one without the option that it
            names.
    """
    if rows < LEAST:
        raise AttrialError(f"budget={rows}; it takes {LEAST} rows or more")
    call = registry.parse_call(text)
    declared = registry.declared(registry.plugin("methods", call.name))
    option = declared.constants.get("BUDGET")
    if option is None or option in call.args:
        return text
    if option not in declared.parameters:
        raise AttrialError(f"{call.name} declares BUDGET = {option!r}, but has no such option")
    each, beside = cast(tuple[int, int], declared.constants.get("BUDGET_ROWS", (1, 0)))
    args = call.args | {str(option): max(1, (rows - beside) // each)}
    if EXACT in declared.parameters:
        args.setdefault(EXACT, 0)
    return f"{call.name}({', '.join(f'{k}={v!r}' for k, v in args.items())})"
