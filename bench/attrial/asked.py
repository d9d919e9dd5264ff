"""What a run is asked to try, found and checked by itself before anything is computed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from attrial import assignment, budget, plugin_call, registry
from attrial.errors import AttrialError
from attrial.outside import Submission
from attrial.plugin_call import Metric, PluginMethod
from attrial.store import Entry
from attrial.suite import Suite, default_suite
from attrial.task import IMAGE, Columns, Source, Task, load_task, shows_images


@dataclass(frozen=True)
class Asked:
    """What is tried on every task and model.

    Attributes:
        suite: As it was asked for.
        methods: The methods, by the label of their rows.
        metrics: The metrics, by the name of their rows.
        submissions: Attributions that were made elsewhere.
    """

    suite: Suite
    methods: Mapping[str, PluginMethod]
    metrics: Mapping[str, Metric]
    submissions: tuple[Submission, ...] = ()

    def exceeded(self, entries: Sequence[Entry]) -> Iterator[str]:
        """A line for each method and task that asked more rows of an example than the budget."""
        if self.suite.budget is not None:
            limited = [k for k, m in self.methods.items() if m.bound.constant("BUDGET", None)]
            yield from budget.exceeded(entries, limited, self.suite.budget)


def asked(suite: Suite, submissions: Sequence[Submission] = ()) -> Asked:
    """Find the methods and metrics of a suite; beside submissions no method is tried unasked.

    Raises:
        AttrialError: For an unknown name (near ones offered), a wrong argument or number, or two
            methods of one name.
    """
    _check_numbers(suite)
    for removal in suite.removals:
        registry.plugin("removals", removal)
    methods = _methods(suite) if suite.methods or not submissions else {}
    for name in (s.label for s in submissions):
        if name in methods or name in assignment.CONTROLS:
            raise AttrialError(f"two methods named {name!r}; name the one of the file apart")
    return Asked(suite, methods, _metrics(suite), tuple(submissions))


def _check_numbers(suite: Suite) -> None:
    if suite.seed < 0:
        raise AttrialError(f"seed={suite.seed}; it takes 0 or more")
    if suite.limit is not None and suite.limit < 1:
        raise AttrialError(f"limit={suite.limit}; it takes 1 or more")


def _methods(suite: Suite) -> dict[str, PluginMethod]:
    chosen = suite.methods or default_suite().methods
    everything = [name for name in registry.plugins("methods") if name not in assignment.BASELINES]
    names = everything if chosen == ("all",) else chosen
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


def tasks(suite: Suite, data: Source) -> list[Task]:
    """The tasks of a suite; data without a task are one.

    Raises:
        AttrialError: For an unknown task, or one data source for several.
    """
    if not suite.tasks and data is not None:
        return [_given(data)]
    found = [load_task(name) for name in dict.fromkeys(suite.tasks or default_suite().tasks)]
    if len(found) > 1 and data is not None:
        raise AttrialError("one data source can't serve several tasks; name one --task")
    return found


def _given(data: Source) -> Task:
    """The task that data without one are: images if they are a folder of these, else texts."""
    if not isinstance(data, str | Path) or not shows_images(Path(data)):
        return Task(name="texts", description="Texts given by the user.")
    return Task(
        name="images",
        description="Images given by the user.",
        columns=Columns((), image=IMAGE),
        asks="image classifier",
        players="patches",
        removals=("mean",),
    )


def own_model(task: Task) -> str:
    """Where a task's own model is.

    Raises:
        AttrialError: If it has none.
    """
    if task.model is None:
        raise AttrialError(
            f"task {task.name} has no model of its own; give one with --model FOLDER"
        )
    return task.model
