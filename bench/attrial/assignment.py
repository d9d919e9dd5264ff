"""What is to be tried: one task and one model against methods, metrics and removals. Pure."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from attrial.example import Example
from attrial.plugin_call import Method, Metric
from attrial.record import DataSpec, ModelSpec, PluginSpec, Spec
from attrial.removal import draws

CONTROLS = ("random_order", "best_order", "worst_order")  # orders that no method gives
BASELINES = ("constant", "position")  # methods that stand on every board as controls


@dataclass(frozen=True)
class Assignment:
    """One task, one model, and all that is to be tried on them.

    Attributes:
        data: Where the examples come from.
        model: Which model answers.
        players: What a player is (``words`` or ``tokens``).
        function: Through which function of the predicted class methods are asked to explain.
        removals: The panel that metrics run under; methods explain under the first.
        methods: The methods, by the label of their rows.
        metrics: The metrics, by the name of their rows.
        seed: Decides every draw of every method and metric, with the example's content.
        baselines: Methods that are tried on every board and not ranked, by their labels.
        labels: Names of the model's classes, in the order of its outputs; they decide no number.
        explains: Which of the outputs is explained, in words.
        about: The task in a line.
        asks: The kind of model that it is for.
    """

    data: DataSpec
    model: ModelSpec
    players: str
    function: str
    removals: tuple[str, ...]
    methods: Mapping[str, Method]
    metrics: Mapping[str, Metric]
    seed: int
    baselines: Mapping[str, Method] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    explains: str = "the predicted class"
    about: str = ""
    asks: str = ""

    @property
    def explained_under(self) -> str:
        """The removal under which methods' own questions are answered."""
        return self.removals[0]

    @property
    def target(self) -> str:
        """What is explained, in words."""
        if len(self.labels) == 1:
            return "the model's one output"
        return f"{self.function} of {self.explains}"

    @property
    def explainers(self) -> dict[str, Method]:
        """All that give scores: the methods, and the baselines that are not among them."""
        return {
            **self.methods,
            **{k: m for k, m in self.baselines.items() if k not in self.methods},
        }

    def measured(self, removal: str) -> dict[str, Metric]:
        """Metrics with something new to say under a removal: only faithfulness depends on it."""
        once = removal == self.explained_under
        return {k: m for k, m in self.metrics.items() if once or m.depends_on_removal}


@dataclass(frozen=True)
class Job:
    """One record to be made: a method or a control, its metrics read under one removal.

    ``explains`` tells those that give scores from the orders that no method gives.
    """

    label: str
    control: bool
    explains: bool
    removal: str
    spec: Spec


def jobs(a: Assignment) -> list[Job]:
    """All records that an assignment asks for, in a fixed order."""
    labels = (*a.explainers, *CONTROLS)
    return [_job(a, label, removal) for removal in a.removals for label in labels]


def _job(a: Assignment, label: str, removal: str) -> Job:
    control, explains = label not in a.methods, label in a.explainers
    method = a.explainers[label].spec if explains else PluginSpec(name=label)
    measured = a.measured(removal)
    drawn = _drawn(a, removal, [*([a.explainers[label]] if explains else []), *measured.values()])
    spec = Spec(
        data=a.data,
        model=a.model if drawn else a.model.model_copy(update={"infill": None}),
        players=a.players,
        target=a.target,
        explained_under=a.explained_under,
        removal=removal,
        method=method,
        label=label,
        control=control,
        metrics={name: m.bound.spec for name, m in measured.items()},
        seed=a.seed,
    )
    return Job(label, control, explains, removal, spec)


def _drawn(a: Assignment, removal: str, askers: Sequence[Method | Metric]) -> bool:
    """Whether stand-ins decide this record: elsewhere what draws them must not rename it."""
    return any(map(draws, (a.explained_under, removal))) or any("infill" in m.asks for m in askers)


def seed_of(seed: int, x: Example) -> int:
    """The seed of one example: from the run's seed and its content, so order doesn't matter."""
    digest = hashlib.sha256(f"{seed} {x.digest}".encode()).digest()
    return int.from_bytes(digest[:6], "little")


def digest_of(examples: Sequence[Example], *, rationale: bool = False) -> str:
    """Content hash of examples in order: what the model sees, names, evidence and labels.

    With ``rationale`` the evidence is what people hold to be the reason: that is another measure.
    """
    h = hashlib.sha256(b"rationale|" if rationale else b"")
    for x in examples:
        truth = b"-" if x.truth is None else np.packbits(x.truth).tobytes()
        h.update(f"{x.id}|{x.digest}|{x.players}|{x.label}|{x.truncated}|".encode() + truth)
    return h.hexdigest()[:16]


def chunks(examples: Sequence[Example], size: int) -> Iterator[tuple[int, Sequence[Example]]]:
    """Examples in numbered runs of at most ``size``: what is checkpointed together."""
    for number, start in enumerate(range(0, len(examples), size)):
        yield number, examples[start : start + size]
