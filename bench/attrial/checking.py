"""What notebooks and commands call to put methods under sanity and robustness checks."""

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from attrial import asked, checker, chunk, evaluator, plugin_call, registry, report, trial
from attrial.check_bench import Bench
from attrial.check_record import CheckReport, CheckResult
from attrial.checker import Check, Progress, Setting, silent
from attrial.classifiers import ModelLike, classifier_of
from attrial.errors import AttrialError
from attrial.models.altered import Altered
from attrial.models.pairing import digest
from attrial.models.text import TextClassifier
from attrial.models.threads import suited
from attrial.plugin_call import PluginMethod
from attrial.suite import Suite
from attrial.task import Generated, Source, Task
from attrial.trial import Prepared
from attrial.value import Value

TASK = "planted_keyword"  # what a method is checked on if nothing else is said


@dataclass(frozen=True)
class Checked:
    """The results of checks, ready to be read, shown and saved."""

    report: CheckReport

    @property
    def results(self) -> list[CheckResult]:
        """One result a method and check."""
        return self.report.results

    def markdown(self) -> str:
        """A table of verdicts, methods by checks, and every sentence."""
        return report.checks_markdown(self.report)

    def html(self) -> str:
        """The same as a page that needs nothing else."""
        return report.checks_html(self.report)

    def save(self, folder: str | Path) -> None:
        """Write ``checks.json``, ``checks.md`` and ``checks.html``."""
        report.save_checks(self.report, Path(folder))

    def _repr_html_(self) -> str:
        return self.html()


def check(
    methods: Sequence[str],
    task: str | Path | None = None,
    *,
    checks: Sequence[str] = (),
    model: ModelLike | None = None,
    data: Source = None,
    shuffled_model: ModelLike | None = None,
    limit: int = 10,
    seed: int = 0,
    dtype: str | None = None,
    device: str | None = None,
    out: str | Path | None = None,
    watch: Progress = silent,
) -> Checked:
    """Put methods under checks; every pair ends in one result.

    Args:
        methods: Such as ``occlusion``, ``lime(samples=500)``, ``./mine.py``, ``all``.
        task: A registered task or a TOML file; ``planted_keyword`` by default. With ``data`` and
            no task, the data's texts are the task.
        checks: Such as ``determinism``, ``parameter_randomisation(order='independent')``; all by
            default.
        model: A folder, a Hub id, or a loaded pair (model, tokenizer); the task's own by default.
        data: Instead of the task's data: a path, a ``datasets.Dataset``, a frame, or texts.
        shuffled_model: One of the same architecture, trained on shuffled labels. The embedded
            planted tasks train one on the fly.
        limit: Examples, the first ones.
        seed: Of all draws.
        dtype: Of models loaded from a folder or the Hub, such as ``bfloat16``; float32 by default.
        device: Where those run: ``cpu``, ``cuda`` or ``auto``.
        out: Folder for ``checks.json``, ``checks.md`` and ``checks.html``.
        watch: Told how many pairs are done, how many there are, and which comes.

    Raises:
        AttrialError: For anything that is wrong with the input, before anything is computed.
        RuntimeError: If a check changed the model.
    """
    wanted = _checks(checks)
    tried = _methods(methods)
    suite = Suite(tasks=_tasks(task, data), limit=limit, seed=seed)
    nothing_else = replace(asked.asked(suite), methods={}, metrics={})
    (found,) = asked.tasks(suite, data)
    placed = partial(classifier_of, dtype=dtype, device=device)
    if model is None:
        classifier = placed(asked.own_model(found), revision=found.model_revision)
    else:
        classifier = placed(model)
    prepared = trial.prepare(nothing_else, found, classifier, data)
    load = placed if isinstance(shuffled_model, str | Path) else classifier_of
    shuffled = _shuffled(found, shuffled_model, load, own=model is None, seed=seed)
    classifier = prepared.model
    altered = Altered(classifier, prepared.examples, shuffled)
    with suited(classifier.forward.model), _unchanged(classifier):
        bench = _bench(prepared, tried[0], classifier, altered)
        results = checker.check_all(_setting(prepared), bench, tried, wanted, watch)
    done = Checked(CheckReport(results=results, made_with=evaluator.made_with()))
    if out is not None:
        done.save(out)
    return done


def _checks(names: Sequence[str]) -> list[Check]:
    if isinstance(names, str):
        raise AttrialError("checks takes a list, such as checks=['determinism']")
    chosen = names or registry.plugins("checks")
    return [checker.check_named(name) for name in dict.fromkeys(chosen)]


def _methods(names: Sequence[str]) -> list[PluginMethod]:
    """Controls may be checked too: a check that they pass is worth little."""
    if isinstance(names, str) or not names:
        raise AttrialError("methods takes a list with at least one method, such as ['occlusion']")
    chosen = registry.plugins("methods") if tuple(names) == ("all",) else names
    return [plugin_call.method(name) for name in dict.fromkeys(chosen)]


def _tasks(task: str | Path | None, data: Source) -> tuple[str, ...]:
    if task is None:
        return () if data is not None else (TASK,)
    return (str(task),)


def _bench(
    prepared: Prepared, method: PluginMethod, classifier: TextClassifier, altered: Altered
) -> Bench:
    examples, a = tuple(prepared.examples), prepared.assignment
    classes = chunk.predicted(Value(classifier), examples, a.explained_under)
    return Bench(
        method, classifier, altered, examples, tuple(classes), a.explained_under, a.function
    )


def _setting(prepared: Prepared) -> Setting:
    a = prepared.assignment
    return Setting(a.data, a.model, a.seed)


@contextmanager
def _unchanged(classifier: TextClassifier) -> Iterator[None]:
    """The model leaves with the weights that it came with, or the checks fail."""
    yield
    if digest(classifier.forward.model) != classifier.spec.weights:
        raise RuntimeError("the model's weights were changed while it was checked")


def _shuffled(
    task: Task,
    given: ModelLike | None,
    load: Callable[[ModelLike], TextClassifier],
    *,
    own: bool,
    seed: int,
) -> Callable[[], TextClassifier] | None:
    """How a model trained on shuffled labels is come by; a generated task's package may train one.

    It does so in the function ``mislabelled(task, seed)`` of its module ``_train``, which gives a
    (model, tokenizer) of the architecture of the task's own model.
    """
    if given is not None:
        return lambda: load(given)
    labelled = task.asks.endswith("classifier")  # else continuations are asked: no labels
    if not own or not labelled or not isinstance(task.origin, Generated):
        return None
    module = f"{task.origin.module.rpartition('.')[0]}._train"
    if importlib.util.find_spec(module) is None:
        return None
    train = getattr(importlib.import_module(module), "mislabelled", None)
    return None if train is None else cache(lambda: classifier_of(train(task.name, seed)))
