"""What notebooks and commands call to try methods on tasks."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from attrial import asked, evaluator
from attrial.board import Board
from attrial.classifiers import ModelLike, classifier_of
from attrial.errors import NOT_APPLICABLE, AttrialError
from attrial.evaluator import Watch, unwatched
from attrial.models.text import TextClassifier
from attrial.models.threads import suited
from attrial.outside import Submission
from attrial.store import Entry, Store
from attrial.suite import Suite, suite_of
from attrial.task import Source, Task
from attrial.trial import prepare


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
    infill: str | Path | None = None,
    dtype: str | None = None,
    device: str | None = None,
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
        infill: Folder or Hub id of a masked language model with the classifier's tokens that draws
            stand-ins for removed words; by default they are drawn from the texts that are tried.
        dtype: Of models loaded from a folder or the Hub, such as ``bfloat16``; float32 by default.
        device: Where those run: ``cpu``, ``cuda`` or ``auto``.
        out: Folder for records and tables; records in it are not made again. Nothing is kept
            without it.
        batch_tokens: Tokens in one forward pass, padding included.

    Raises:
        AttrialError: For anything that is wrong with the input, before anything is computed.
    """
    suite = suite_of(
        tasks, methods,
        metrics=metrics, removals=removals, limit=limit, budget=budget, seed=seed, infill=infill,
        dtype=dtype, device=device,
    )  # fmt: skip
    if isinstance(models, str) or not isinstance(models, Sequence) or _is_pair(models):
        raise AttrialError("models takes a list, such as models=[...]; one was given bare")
    return run_suite(suite, models=models, data=data, out=out, batch_tokens=batch_tokens)


def _is_pair(models: object) -> bool:
    """Whether it is one loaded (model, tokenizer), not a list of models."""
    return isinstance(models, tuple) and len(models) == 2 and hasattr(models[0], "forward")


def run_suite(
    suite: Suite,
    *,
    models: Sequence[ModelLike] = (),
    data: Source = None,
    submissions: Sequence[Submission] = (),
    out: str | Path | None = None,
    batch_tokens: int | None = None,
    watch: Watch = unwatched,
    command: str = "",
) -> Board:
    """Like ``run``, from a suite; ``watch`` gives each trial's progress callback by its name.

    ``submissions`` are attributions that were made elsewhere; beside them no method is tried that
    the suite doesn't name.
    """
    wanted, tasks = asked.asked(suite, submissions), asked.tasks(suite, data)
    chosen = models or suite.models
    entries: list[Entry] = []
    said: list[str] = []
    with _store(out) as store:
        for task in tasks:
            for model in chosen or (asked.own_model(task),):
                revision = None if chosen else task.model_revision
                classifier = classifier_of(
                    model, revision=revision, batch_tokens=batch_tokens,
                    dtype=suite.dtype, device=suite.device,
                )  # fmt: skip
                found, notices = _trial(wanted, task, classifier, data, store, watch)
                entries += found
                said += notices
        said += store.warnings
    if not entries:
        raise AttrialError(f"nothing is left to measure: {'; '.join(dict.fromkeys(said))}")
    told = (*dict.fromkeys(said), *_notices(entries), *wanted.exceeded(entries))
    board = Board(tuple(entries), told, command)
    if out is not None:
        board.save(out)
    return board


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
    wanted: asked.Asked,
    task: Task,
    model: TextClassifier,
    data: Source,
    store: Store,
    watch: Watch,
) -> tuple[list[Entry], tuple[str, ...]]:
    """The entries of one task with one model, and what the user must know of it."""
    with suited(model.forward.model):
        prepared = prepare(wanted, task, model, data)
        if not prepared.assignment.metrics:
            return [], prepared.notices
        progress = watch(f"{task.name} · {model.spec.name}")
        found = evaluator.evaluate(
            prepared.assignment, prepared.model, prepared.examples, store, progress=progress
        )
    return found, prepared.notices


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
        if spec.label == "best_order" and "bounded search" in warned:
            few = f"{warned['bounded search']} of {count}"
            yield f"{task}: best and worst order are searched within a bound on {few}, as too long"
        if "bounded" in warned:
            few = f"{warned['bounded']} of {count}"
            yield f"{task}: {spec.label} asked less than it was set to on {few}, which are long"
