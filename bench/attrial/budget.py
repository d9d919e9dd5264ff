"""One number of model rows for all that samples: a method's call with its budget filled in.

A method that samples names the option that counts its rows in a literal constant of its module,
``BUDGET = "samples"``; where a sample is not one row, ``BUDGET_ROWS = (2, 1)`` says how many each
takes, and how many are asked beside them.

Whole orders and sets with all their neighbours can't be cut in two. A method that is made of them
asks the least that it can where that is more than the budget, and a run says so.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import cast

from attrial import registry
from attrial.errors import AttrialError
from attrial.store import Entry

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


def exceeded(entries: Sequence[Entry], limited: Collection[str], rows: int) -> Iterator[str]:
    """A line for each method and task that asked more rows of an example than the budget.

    Args:
        entries: Of a run.
        limited: Labels of the methods that a budget is meant for.
        rows: The budget. Gradient rows count as the others.
    """
    for entry in entries:
        spec, trials = entry.record.spec, entry.trials
        if spec.label not in limited or spec.removal != spec.explained_under:
            continue
        asked = [t.cost.get("rows", 0) + t.cost.get("slopes", 0) for t in trials]
        over = [count for count in asked if count > rows]
        if over:
            most, few = max(over), f"{len(over)} of {len(trials)}"
            yield (
                f"{spec.data.task}: {spec.label} asked up to {most} rows of an example, "
                f"{most - rows} more than the budget of {rows}, on {few}"
            )
