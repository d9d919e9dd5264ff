"""What tells sections of one task apart, so that no two have one heading. Pure."""

from collections.abc import Callable, Mapping, Sequence

from attrial.leaderboard import Row

SHORT = 8  # digits of a hash
# What may tell them apart, the most telling first.
FACTS: Mapping[str, Callable[[Row], str]] = {
    "model": lambda row: row.model,
    "revision": lambda row: f"revision {(row.model_revision or 'none')[:SHORT]}",
    "weights": lambda row: f"weights {row.weights[:SHORT]}",
    "infill": lambda row: f"stand-ins by {row.infill or 'none'}",
    "data": lambda row: f"data {row.data_digest[:SHORT]}",
    "players": lambda row: row.players,
    "target": lambda row: row.target,
    "removal": lambda row: f"methods ask under {row.explained_under}",
    "seed": lambda row: f"seed {row.seed}",
}


def apart(heads: Sequence[Row]) -> list[tuple[str, ...]]:
    """For each section the fewest facts, in order, that no other section of its task shares.

    Args:
        heads: The first row of each section.

    Returns:
        Nothing for a section that is the only one of its task.
    """
    by_task: dict[str, list[Row]] = {}
    for row in heads:
        by_task.setdefault(row.task, []).append(row)
    told = {task: _telling(rows) for task, rows in by_task.items()}
    return [tuple(fact(row) for fact in told[row.task]) for row in heads]


def _telling(rows: Sequence[Row]) -> list[Callable[[Row], str]]:
    """Facts of which each splits what the ones before it left together."""
    chosen: list[Callable[[Row], str]] = []
    for fact in FACTS.values():
        if _parts(rows, [*chosen, fact]) > _parts(rows, chosen):
            chosen.append(fact)
    return chosen


def _parts(rows: Sequence[Row], facts: Sequence[Callable[[Row], str]]) -> int:
    return len({tuple(fact(row) for fact in facts) for row in rows})
