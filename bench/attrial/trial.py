"""One task with one model made ready to be tried: examples, labels, and what is asked of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from attrial import assignment, chunk, outside, plugin_call
from attrial.asked import Asked
from attrial.assignment import Assignment
from attrial.classifiers import filled, known_words, require
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.models.heads_choice import ChoiceModel
from attrial.models.heads_models import AnswerModel, Headed
from attrial.models.loading import ANSWERER, CHOOSER, LABELLER
from attrial.models.text import TextClassifier
from attrial.models.vision import VisionClassifier
from attrial.outside import Outside
from attrial.plugin_call import Method, Metric
from attrial.record import DataSpec, ModelSpec
from attrial.removal import draws
from attrial.task import Item, Source, Task, items, read, source_name
from attrial.value import Value

# What metrics can't read of a model that gives one number. Those that compare values go by the
# number itself, in its own unit, where they'd read a probability or log-odds of a class.
SENSELESS = {
    "margin": "the model gives one number and takes no decision that could flip",
    "log_probability": "the model gives one number and no probability",
}

MANY = 5  # examples, from which on it is told that all are of one class


@dataclass(frozen=True)
class Prepared:
    """A trial before anything is computed.

    Attributes:
        assignment: What is asked; without metrics where none applies.
        model: Who is asked, with what draws stand-ins.
        examples: Of the task, as the model sees them.
        notices: What the user must know of it.
    """

    assignment: Assignment
    model: TextClassifier
    examples: Sequence[Example]
    notices: tuple[str, ...]


def prepare(asked: Asked, task: Task, model: TextClassifier, data: Source) -> Prepared:
    """Read a task's examples and compare them with the model and with what is asked.

    Raises:
        AttrialError: If they don't fit: labels, removals, attributions made elsewhere.
    """
    removals = tuple(dict.fromkeys(asked.suite.removals or task.removals))
    found = read(task, data=data, limit=asked.suite.limit)
    examples = examples_of(task, model, found.items)
    model = filled(model, examples, asked.suite.infill)
    for removal in removals:
        require(model, removal)
    handed_in = _outside(asked, task, model, data, examples, removals[0])
    metrics = _metrics(asked, task, model, examples)
    a = Assignment(
        data=_data_spec(task, data, examples, found.revision),
        model=_model_spec(model, removals, [*asked.methods.values(), *asked.metrics.values()]),
        players=task.players,
        function=task.target,
        removals=removals,
        methods={**asked.methods, **handed_in},
        metrics=metrics,
        seed=asked.suite.seed,
        baselines={name: plugin_call.method(name) for name in assignment.BASELINES},
        labels=model.labels,
        explains=_explains(model, examples),
        about=task.description,
        asks=task.asks,
    )
    return Prepared(a, model, examples, tuple(_notices(asked, task, data, examples, metrics)))


def _explains(model: TextClassifier, examples: Sequence[Example]) -> str:
    if all(x.explained is None for x in examples):
        return "the predicted class"
    if isinstance(model, AnswerModel):
        return "an end of the answer"
    one = all(len(x.options) == 1 for x in examples)
    return "the continuation" if one else "the first continuation, against the others"


def _model_spec(
    model: TextClassifier, removals: Sequence[str], askers: Sequence[Method | Metric]
) -> ModelSpec:
    """Names the filler too, where anything is drawn."""
    drawn = "infill" in {q for asker in askers for q in asker.asks} or any(map(draws, removals))
    filler = model.vocabulary.filler
    if filler is None or not drawn:
        return model.spec
    return model.spec.model_copy(update={"infill": filler.name})


def _metrics(
    asked: Asked, task: Task, model: TextClassifier, examples: Sequence[Example]
) -> dict[str, Metric]:
    """Those that apply, told whose word the evidence is, and where they have no meaning."""
    known = any(x.truth is not None for x in examples)
    one = len(model.labels) == 1
    return {
        name: replace(
            metric, rationale=task.rationale, senseless=SENSELESS.get(metric.reads, "") * one
        )
        for name, metric in asked.metrics.items()
        if known or metric.facts.family != "evidence"
    }


def _notices(
    asked: Asked,
    task: Task,
    data: Source,
    examples: Sequence[Example],
    metrics: Mapping[str, Metric],
) -> Iterator[str]:
    without = [name for name in asked.metrics if name not in metrics]
    if asked.suite.metrics and without:  # the embedded suite's own are left out as it says
        yield f"{task.name}: no known evidence in the data, so without {', '.join(without)}"
    column = task.columns.label
    if data is not None and column and all(x.label is None for x in examples):
        yield f"{task.name}: {source_name(data)} has no labels ({column!r}); none is needed"
    found = {x.label for x in examples}
    if len(task.labels) > 1 and len(examples) >= MANY and len(found) == 1 and None not in found:
        yield (
            f"{task.name}: all {len(examples)} examples are labelled "
            f"{task.labels[examples[0].label or 0]!r}; data sorted by class begin with one of them"
        )


def _outside(
    asked: Asked,
    task: Task,
    model: TextClassifier,
    data: Source,
    examples: Sequence[Example],
    removal: str,
) -> dict[str, Outside]:
    """What was made elsewhere, compared with the examples and with the predicted classes."""
    if not asked.submissions:
        return {}
    texts = {x.id: x.text for x in examples}
    if asked.suite.limit is not None:  # rows of examples beyond the limit are no fault
        texts |= {item.id: item.texts for item in items(task, data=data)}
    placed = [outside.on_task(s, examples, texts, players=task.players) for s in asked.submissions]
    if outside.names_targets(placed):
        classes = chunk.predicted(Value(model), examples, removal)
        outside.check_targets(placed, examples, classes, model.labels)
    return {method.submission.label: method for method in placed}


def _same_labels(task: Task, model: TextClassifier) -> None:
    """A task's label names are the model's, in its order; LABEL_0 and the like name nothing."""
    if task.asks not in ("text classifier", "image classifier"):
        return
    if task.labels and not model.labels:
        raise AttrialError(f"task {task.name} asks a {task.asks}; {model.spec.name} has no labels")
    pairs = zip(task.labels, model.labels, strict=False)
    apart = any(
        a.casefold() != b.casefold() for a, b in pairs if not b.upper().startswith("LABEL_")
    )
    if apart or len(task.labels) > len(model.labels):
        raise AttrialError(
            f"task {task.name} has the labels {', '.join(task.labels)}; the model's are "
            f"{', '.join(model.labels)}, in this order"
        )


def _same_head(task: Task, model: TextClassifier) -> None:
    """A task for another head than a sequence classifier's is asked of that head alone."""
    wanted = task.asks if task.asks in (LABELLER, ANSWERER, CHOOSER) else None
    kind = model.KIND if isinstance(model, Headed) else None
    if wanted != kind:
        told = f"of the kind {kind!r}" if kind else "none"
        raise AttrialError(
            f"task {task.name} asks a model of the kind {task.asks!r}; {model.spec.name} is {told}"
        )


def _made(task: Task, model: TextClassifier, item: Item) -> Example:
    if item.image is not None and not isinstance(model, VisionClassifier):
        raise AttrialError(f"task {task.name} shows images; {model.spec.name} takes texts")
    if item.image is not None and isinstance(model, VisionClassifier):
        return model.see(
            item.id, item.image, players=task.players, evidence=item.boxes, label=item.label
        )
    if isinstance(model, Headed):
        return model.encode(
            item.id, item.texts, players=task.players, evidence=item.evidence, label=item.label,
            spans=item.spans, fixed=item.fixed, options=item.options, position=item.position,
        )  # fmt: skip
    return model.encode(
        item.id, item.texts, players=task.players, evidence=item.evidence, label=item.label,
        spans=item.spans, fixed=item.fixed, options=item.options, prefix=item.prefix,
    )  # fmt: skip


def examples_of(task: Task, model: TextClassifier, found: Sequence[Item]) -> list[Example]:
    """The task's items as the model sees them.

    Raises:
        AttrialError: If the two don't fit: labels, continuations asked of a classifier.
    """
    _same_head(task, model)
    _same_labels(task, model)
    for item in found:
        if item.options and model.labels:
            raise AttrialError(
                f"task {task.name} asks how a text goes on, and needs a model that generates text; "
                f"{model.spec.name} is a classifier"
            )
        known = task.labels if item.options else model.labels
        if isinstance(model, ChoiceModel):
            known = item.options
        if item.label is not None and item.label >= len(known):
            raise AttrialError(
                f"task {task.name}: item {item.id} has label {item.label}, but "
                f"{'the task' if item.options else 'the model'} has {len(known)} labels: "
                f"{', '.join(known)}"
            )
    made = [_made(task, model, item) for item in found]
    for x, item in zip(made, found, strict=True):
        if item.options and not isinstance(model, Headed):
            known_words(model, x.options, item.options)
    if not task.labels:
        return made
    # Continuations that stand for classes: the model's choice among them is what is explained.
    return [replace(x, labels=task.labels, explained=None) if x.options else x for x in made]


def _data_spec(
    task: Task, data: Source, examples: Sequence[Example], revision: str | None
) -> DataSpec:
    return DataSpec(
        task=task.name,
        source=task.source if data is None else source_name(data),
        revision=revision,
        split=task.split,
        digest=assignment.digest_of(examples, rationale=task.rationale),
        count=len(examples),
    )
