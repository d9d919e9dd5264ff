"""Methods made up to pass or to fail checks, on a bench with a small real model: for tests."""

from functools import cache
from pathlib import Path

import attrial_tasks
from attrial import checker, plugin_call, task
from attrial.check_bench import Bench
from attrial.check_record import CheckResult
from attrial.checker import Setting, check_all
from attrial.models.altered import Altered
from attrial.models.text import TextClassifier
from attrial.record import DataSpec

FOLDER = Path(attrial_tasks.__file__).parent / "models"
HEAD = """
import numpy as np
from attrial.ask import keep, slope
from attrial.masks import all_but_each, everything
"""
LEAVE_ONE_OUT = """
    v = yield from keep(np.concatenate([everything(x.n), all_but_each(x.n)]))
    s = v[0] - v[1:]
"""


def made(folder: Path, name: str, body: str, *, head: str = "") -> str:
    """Write a method file; ``body`` are the lines of its function, which has ``x`` and ``seed``."""
    path = folder / f"{name}.py"
    path.write_text(f"{HEAD}\n{head}\n\ndef {name}(x, *, seed: int):\n    {body.strip()}\n")
    return str(path)


@cache
def classifier(name: str = "planted_keyword") -> TextClassifier:
    """A planted task's model."""
    return TextClassifier.load(FOLDER / name)


def bench(method: str, *, count: int = 5, name: str = "planted_keyword") -> Bench:
    """A method on the first examples of a planted task."""
    model = classifier(name)
    found = task.items(task.load_task(name), limit=count)
    examples = tuple(model.encode(i.id, i.texts, evidence=i.evidence, label=i.label) for i in found)
    classes = tuple(model.predict(examples))
    altered = Altered(model, examples)
    return Bench(plugin_call.method(method), model, altered, examples, classes, "mask", "log_odds")


def result(check: str, on: Bench, *, seed: int = 0) -> CheckResult:
    """The result of one check, as the command gives it."""
    data = DataSpec(task="t", source="made up", digest="d", count=len(on.examples))
    setting = Setting(data, classifier().spec, seed)
    (found,) = check_all(setting, on, [on.method], [checker.check_named(check)])
    return found
