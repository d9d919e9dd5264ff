"""What notebooks and commands call to try methods on tasks."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from attrial import assignment, budget, evaluator, plugin_call, registry
from attrial.assignment import Assignment
from attrial.board import Board
from attrial.classifiers import ModelLike, classifier_of, require
from attrial.errors import NOT_APPLICABLE, AttrialError
from attrial.evaluator import Watch, unwatched
from attrial.example import Example
from attrial.models.text import TextClassifier
from attrial.models.threads import suited
from attrial.plugin_call import Method, Metric
from attrial.record import DataSpec
from attrial.store import Entry, Store
from attrial.suite import Suite, default_suite
from attrial.task import Item, Source, Task, items, load_task, source_name


def run(
    tasks: Sequence[str | Path] = (),
    methods: Sequence[str] = (),
    *,
    models: Sequence[ModelLike] = (),
    data: Source = None,
    metrics: Sequence[str] = (),
    removals: Sequence[str] = (),
    limit: int | None = None,
    budget: int | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    batch_tokens: int | None = None,
) -> Board:
    """Try attribution methods on tasks; everything left out is the embedded suite's or the task's.

    Args:
        tasks: Names of registered tasks or paths of TOML files. With ``data`` and no task, the
            data's texts are the task.
        methods: Such as ``occlusion``, ``integrated_gradients(steps=30)``, ``./mine.py``, ``all``.
        models: Folders, Hub ids, or loaded pairs (model, tokenizer); each task's own by default.
        data: Instead of a task's data: a path, a ``datasets.Dataset``, a pandas frame, or texts.
        metrics: Such as ``aopc``; those that need known evidence are left out where there is none.
        removals: The panel that metrics run under; methods explain under the first.
        limit: Examples a task, the first ones.
        budget: Model rows an example for every method that samples, where its call gives none;
            each one's own by default.
        seed: Of all draws.
        out: Folder for records and tables; records in it are not made again. Nothing is kept
            without it.
        batch_tokens: Tokens in one forward pass, padding included.

    Raises:
        AttrialError: For anything that is wrong with the input, before anything is computed.
    """
    for name, given in {"tasks": tasks, "methods": methods, "models": models}.items():
        if isinstance(given, str) or (name == "models" and _is_pair(given)):
            raise AttrialError(f"{name} takes a list, such as {name}=[...]; one was given bare")
    if not isinstance(seed, int) or not all(isinstance(n, int | None) for n in (limit, budget)):
        raise AttrialError(f"{seed=}, {limit=}, {budget=}: all are whole numbers")
    suite = Suite(
        tasks=tuple(map(str, tasks)),
        methods=tuple(methods),
        metrics=tuple(metrics),
        removals=tuple(removals),
        limit=limit,
        budget=budget,
        seed=seed,
    )
    return run_suite(suite, models=models, data=data, out=out, batch_tokens=batch_tokens)


def _is_pair(models: object) -> bool:
    """Whether it is one loaded (model, tokenizer), not a list of models."""
    return isinstance(models, tuple) and len(models) == 2 and hasattr(models[0], "forward")


def run_suite(
    suite: Suite,
    *,
    models: Sequence[ModelLike] = (),
    data: Source = None,
    out: str | Path | None = None,
    batch_tokens: int | None = None,
    watch: Watch = unwatched,
    command: str = "",
) -> Board:
    """Like ``run``, from a suite; ``watch`` gives each trial's progress callback by its name."""
    methods, metrics = _methods(suite), _metrics(suite)
    tasks = _tasks(suite, data)
    chosen = models or suite.models
    if len(tasks) > 1 and data is not None:
        raise AttrialError("one data source can't serve several tasks; name one --task")
    for removal in suite.removals:
        registry.plugin("removals", removal)
    if suite.seed < 0:
        raise AttrialError(f"seed={suite.seed}; it takes 0 or more")
    if suite.limit is not None and suite.limit < 1:
        raise AttrialError(f"limit={suite.limit}; it takes 1 or more")
    entries: list[Entry] = []
    with _store(out) as store:
        for task in tasks:
            for model in chosen or (_own_model(task),):
                revision = None if chosen else task.model_revision
                classifier = classifier_of(model, revision=revision, batch_tokens=batch_tokens)
                entries += _trial(suite, task, classifier, data, methods, metrics, store, watch)
        notices = (*dict.fromkeys(store.warnings), *_notices(entries))
    board = Board(tuple(entries), notices, command)
    if out is not None:
        board.save(out)
    return board


def _methods(suite: Suite) -> dict[str, Method]:
    asked = suite.methods or default_suite().methods
    everything = [name for name in registry.plugins("methods") if name not in assignment.BASELINES]
    names = everything if asked == ("all",) else asked
    if suite.budget is not None:
        names = [budget.within(name, suite.budget) for name in names]
    found = [plugin_call.method(name) for name in dict.fromkeys(names)]
    for method in found:
        if method.bound.text in assignment.CONTROLS:
            raise AttrialError(f"{method.bound.text} is the name of a control; rename the method")
    return {method.bound.text: method for method in found}


def _metrics(suite: Suite) -> dict[str, Metric]:
    found = [plugin_call.metric(name) for name in suite.metrics or default_suite().metrics]
    return {metric.bound.text: metric for metric in found}


def _tasks(suite: Suite, data: Source) -> list[Task]:
    if not suite.tasks and data is not None:
        return [Task(name="texts", description="Texts given by the user.")]
    return [load_task(name) for name in dict.fromkeys(suite.tasks or default_suite().tasks)]


def _own_model(task: Task) -> str:
    if task.model is None:
        raise AttrialError(
            f"task {task.name} has no model of its own; give one with --model FOLDER"
        )
    return task.model


@contextmanager
def _store(out: str | Path | None) -> Iterator[Store]:
    if out is not None:
        try:  # before anything is computed
            Path(out).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise AttrialError(f"can't make the folder {out}: {error.strerror}") from None
        yield Store(Path(out))
        return
    with tempfile.TemporaryDirectory(prefix="attrial-") as folder:
        yield Store(Path(folder))


def _trial(
    suite: Suite,
    task: Task,
    model: TextClassifier,
    data: Source,
    methods: dict[str, Method],
    metrics: dict[str, Metric],
    store: Store,
    watch: Watch,
) -> list[Entry]:
    removals = tuple(dict.fromkeys(suite.removals or task.removals))
    for removal in removals:
        require(model, removal)
    found = items(task, data=data, limit=suite.limit)
    _same_labels(task, model)
    examples = _examples(task, model, found)
    known = any(x.truth is not None for x in examples)
    a = Assignment(
        data=_data_spec(task, data, examples),
        model=model.spec,
        players=task.players,
        function=task.target,
        removals=removals,
        methods=methods,
        metrics={k: m for k, m in metrics.items() if known or m.facts.family != "evidence"},
        seed=suite.seed,
        baselines={name: plugin_call.method(name) for name in assignment.BASELINES},
    )
    progress = watch(f"{task.name} · {model.spec.name}")
    with suited(model.forward.model):
        return evaluator.evaluate(a, model, examples, store, progress=progress)


def _same_labels(task: Task, model: TextClassifier) -> None:
    """A task's label names are the model's, in its order; LABEL_0 and the like name nothing."""
    pairs = zip(task.labels, model.labels, strict=False)
    apart = any(
        a.casefold() != b.casefold() for a, b in pairs if not b.upper().startswith("LABEL_")
    )
    if apart or len(task.labels) > len(model.labels):
        raise AttrialError(
            f"task {task.name} has the labels {', '.join(task.labels)}; the model's are "
            f"{', '.join(model.labels)}, in this order"
        )


def _examples(task: Task, model: TextClassifier, found: Sequence[Item]) -> list[Example]:
    for item in found:
        if item.label is not None and item.label >= len(model.labels):
            raise AttrialError(
                f"task {task.name}: item {item.id} has label {item.label}, but the model has "
                f"{len(model.labels)} labels: {', '.join(model.labels)}"
            )
    return [
        model.encode(
            item.id, item.texts, players=task.players, evidence=item.evidence, label=item.label
        )
        for item in found
    ]


def _data_spec(task: Task, data: Source, examples: Sequence[Example]) -> DataSpec:
    return DataSpec(
        task=task.name,
        source=task.source if data is None else source_name(data),
        revision=task.revision if data is None else None,
        split=task.split,
        digest=assignment.digest_of(examples),
        count=len(examples),
    )


def _notices(entries: Sequence[Entry]) -> Iterator[str]:
    """What a reader must know at once: texts that were cut, methods that did not converge."""
    for entry in entries:
        spec, warned = entry.record.spec, entry.record.warnings
        if spec.removal != spec.explained_under:
            continue
        task, count = spec.data.task, spec.data.count
        reasons = {why for cell in entry.record.cells.values() for why in cell.undefined}
        for why in sorted(reasons):
            if why.startswith(NOT_APPLICABLE):
                yield f"{task}: {spec.label} is {why}"
        if spec.label == "random_order" and "truncated" in warned:
            cut = warned["truncated"]
            yield f"{task}: {cut} of {count} texts were cut, the model takes no more"
        if "not converged" in warned:
            yield f"{task}: {spec.label} did not converge on {warned['not converged']} of {count}"
