"""One flat row of a leaderboard, and rows as JSON, CSV and a pandas frame."""

import csv
import io
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict

from attrial.errors import NOT_APPLICABLE

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = 1


class Row(BaseModel):
    """One metric of one method on one task, as every table shows it.

    Attributes:
        value, low, high: Mean over examples and its 95 % bootstrap interval.
        normalised: Mean of per-example values, 0 at the worst order and 1 at the best.
        n: Examples on which the value is defined.
        undefined: Examples on which it is not; ``reasons`` says why.
        rank_low, rank_high: Ranks that the method may have on its board, 1 = best; None for
            controls, for older versions of a method and where no value is defined. Who has values
            on fewer examples than another method is not first.
        direction: Whether ``higher`` or ``lower`` values are better.
        tied: Letters: two methods share one exactly if they are not told apart.
        versus_random: Whether it is ``better`` or ``worse`` than a random order of the players, or
            ``level``: not told apart.
        normalised_n: Examples on which the normalised value is defined; ``normalised_reasons``
            says why it is not where the value itself is.
        above_best: Examples on which it beat the best order that the search found.
        version, metric_version: Of the method and of the metric.
        run: Digest of the record.
        infill: What draws stand-ins for removed players on this board, None where nothing does.
        class_specific: Whether the method explains one class, as it declares; False: it gives every
            class the same scores. None where it declares nothing, and of older records.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str
    model: str
    removal: str
    method: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    normalised: float | None
    n: int
    undefined: int
    rank_low: int | None
    rank_high: int | None
    control: bool
    direction: Literal["higher", "lower"]
    family: str
    tied: str
    versus_random: Literal["better", "level", "worse"] | None
    reasons: dict[str, int]
    normalised_n: int
    normalised_reasons: dict[str, int]
    above_best: int
    unit: str
    explained_under: str
    seed: int
    shipped_by: str
    version: int
    metric_version: int
    players: str
    target: str
    model_revision: str | None
    weights: str
    data_digest: str
    run: str
    infill: str | None = None
    class_specific: bool | None = None

    @property
    def applicable(self) -> bool:
        """Whether the model can answer what the method asks."""
        return not any(why.startswith(NOT_APPLICABLE) for why in self.reasons)


def frame(table: Sequence[Row]) -> "pd.DataFrame":
    """The rows as a pandas frame; ranks are nullable integers, missing numbers NaN."""
    import pandas as pd

    numbers = dict.fromkeys(("value", "low", "high", "normalised"), "float64")
    ranks = dict.fromkeys(("rank_low", "rank_high"), "Int64")
    found = pd.DataFrame([row.model_dump() for row in table], columns=list(Row.model_fields))
    return found.astype({**numbers, **ranks})


def to_json(table: Sequence[Row]) -> str:
    """``{"schema": 1, "rows": [...]}``: every number in full, no timings, dates or machines."""
    dumped = {"schema": SCHEMA, "rows": [row.model_dump() for row in table]}
    return json.dumps(dumped, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def to_csv(table: Sequence[Row]) -> str:
    """One line a row, every number in full, empty where there is none; reasons are JSON."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(Row.model_fields), lineterminator="\n")
    writer.writeheader()
    for row in table:
        dumped = row.model_dump()
        told = {k: json.dumps(v) if v else "" for k, v in dumped.items() if isinstance(v, dict)}
        writer.writerow({**dumped, **told})
    return text.getvalue()
