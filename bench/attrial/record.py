"""What a run leaves behind: a spec that names it, and what was measured for every example."""

import hashlib
import json

from pydantic import BaseModel, ConfigDict, JsonValue

SCHEMA = 1


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PluginSpec(_Frozen):
    """One method or metric with every argument filled in, and who shipped it.

    ``shipped_by`` is a distribution with its version (``attrial 0.1.0``), or a file with the sha256
    of its content (``file mine.py sha256 0123456789ab``).
    ``class_specific`` is what a method declares: False if it gives every class the same scores.
    """

    name: str
    args: dict[str, JsonValue] = {}
    version: int = 1
    shipped_by: str = ""
    class_specific: bool | None = None

    @property
    def origin(self) -> str:
        """What of ``shipped_by`` decides numbers: a file's hash, and of a distribution its name.

        A distribution's version is told, and decides nothing: ``version`` changes with the numbers.
        """
        if " sha256 " in self.shipped_by:
            return self.shipped_by
        return self.shipped_by.partition(" ")[0]

    @property
    def label(self) -> str:
        """As a person writes it, with every argument."""
        shown = ", ".join(f"{k}={v!r}" for k, v in self.args.items())
        return f"{self.name}({shown})" if shown else self.name


class DataSpec(_Frozen):
    """Which examples were tried; ``digest`` is over their content, in order."""

    task: str
    source: str
    revision: str | None = None
    split: str | None = None
    digest: str
    count: int


class ModelSpec(_Frozen):
    """Which model was asked.

    Attributes:
        weights: The sha256 of its parameters.
        infill: What drew stand-ins for removed tokens, with a hash; None where nothing asked it.
        device: What it ran on where that was not the CPU: kernels of others round otherwise.
    """

    name: str
    revision: str | None = None
    weights: str
    dtype: str = "float32"
    infill: str | None = None
    device: str | None = None


class Spec(_Frozen):
    """All that decides the numbers. Its digest names the run.

    Attributes:
        method: The method, or one of the controls ``random_order``, ``best_order``,
            ``worst_order``, ``constant``, ``position`` with ``control`` set.
        label: How the method was asked for: the name of its rows (``lime(samples=500)``).
        explained_under: The removal that the method's own questions were answered under.
        removal: The removal that the metrics' questions were answered under.
        metrics: Every metric, keyed by the name of its rows.
    """

    data: DataSpec
    model: ModelSpec
    players: str
    target: str
    explained_under: str
    removal: str
    method: PluginSpec
    label: str
    control: bool = False
    metrics: dict[str, PluginSpec]
    seed: int

    @property
    def digest(self) -> str:
        """Short content hash, the same on every machine and under every release of a plugin."""
        dumped = self.model_dump(mode="json")
        if self.model.device is None:  # runs on the CPU keep the names that they had before
            del dumped["model"]["device"]
        named = [(dumped["method"], self.method)]
        named += [(dumped["metrics"][name], metric) for name, metric in self.metrics.items()]
        for plugin, spec in named:
            plugin["shipped_by"] = spec.origin
            del plugin["class_specific"]  # told, and decides nothing
        text = json.dumps(dumped, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


class Trial(_Frozen):
    """One example's part of a run.

    Attributes:
        id: The example.
        players: (n,) names.
        scores: (n,) the attribution (empty for controls).
        truth: (n,) known evidence, or None.
        target: Class that was explained.
        label: Gold class, or None.
        truncated: Words cut off.
        values: Metric -> value, None where undefined.
        normalised: Metric -> 0 at the worst order, 1 at the best, None where undefined.
        reasons: Metric -> why it is undefined; ``METRIC/normalised`` for its normalised form.
        curves: Name of a curve (``deletion``, ``insertion``) -> values at k = 0..n.
        notes: What the method noted (completeness gap, steps, ...).
        cost: What the method asked for on this example (``rows``, ``computed``, ...).
        swapped: Metric -> value read through the other function of the target (probability for
            log-odds and the reverse), None where undefined; only of methods and faithfulness.
        names: What each output stands for where the example says it itself: continuations.
    """

    id: str
    players: list[str]
    scores: list[float]
    truth: list[bool] | None = None
    target: int
    label: int | None = None
    truncated: int = 0
    values: dict[str, float | None]
    normalised: dict[str, float | None] = {}
    reasons: dict[str, str] = {}
    curves: dict[str, list[float]] = {}
    notes: dict[str, float | list[float]] = {}
    cost: dict[str, int] = {}
    swapped: dict[str, float | None] = {}
    names: list[str] = []


class MetricFacts(_Frozen):
    """What a table must know of a metric to read it."""

    higher_is_better: bool
    family: str  # faithfulness, evidence, plausibility, complexity: never in one table
    unit: str = ""


class Cell(_Frozen):
    """One metric over all examples: mean, its 95 % bootstrap interval, and what is missing."""

    value: float | None
    low: float | None
    high: float | None
    normalised: float | None
    n: int
    undefined: dict[str, int] = {}


class Cost(_Frozen):
    """What the run asked for; seconds and memory are of this machine, on this day.

    Attributes:
        rows: Mask rows asked for by the method itself.
        computed: Rows of those that nobody had asked before.
        slopes: Gradient rows (one forward and one backward each).
        attends: Attention passes.
        seconds: Wall seconds of the run that this record was part of.
        peak_bytes: Peak resident memory of the process.
    """

    rows: int = 0
    computed: int = 0
    slopes: int = 0
    attends: int = 0
    seconds: float = 0.0
    peak_bytes: int = 0


class Record(_Frozen):
    """A finished run: what was tried, what came out, what it cost, where it was made.

    ``labels`` names the model's classes, by their number; ``about`` is the task in a line and
    ``asks`` the kind of model that it is for. None decides a number; older records have none.
    """

    schema_version: int = SCHEMA
    spec: Spec
    facts: dict[str, MetricFacts]
    cells: dict[str, Cell]
    warnings: dict[str, int] = {}
    cost: Cost = Cost()
    made_with: dict[str, str] = {}
    labels: list[str] = []
    about: str = ""
    asks: str = ""
