"""What notebooks and commands call to explain one text."""

from pathlib import Path

import numpy as np

from attrial import plugin_call
from attrial.classifiers import ModelLike, classifier_of, filled, require
from attrial.errors import AttrialError, near
from attrial.explanation import Explanation
from attrial.masks import everything
from attrial.models.text import TextClassifier
from attrial.target import FUNCTIONS, Target
from attrial.value import Subject, Value, answer


def explain(
    model: ModelLike,
    text: str,
    *,
    text_pair: str | None = None,
    method: str = "integrated_gradients",
    target: str | int | None = None,
    function: str = "log_odds",
    players: str = "words",
    removal: str = "mask",
    seed: int = 0,
    infill: str | Path | None = None,
    dtype: str | None = None,
    device: str | None = None,
) -> Explanation:
    """Explain one text: a score for each player, higher speaks more for the target.

    Args:
        model: A folder, a Hub id, or a loaded pair (model, tokenizer).
        text: The text.
        text_pair: The second text of a pair.
        method: A call such as ``shapley`` or ``integrated_gradients(steps=30)``.
        target: Label (or its number) to explain; the predicted one by default.
        function: What of the target is explained: ``log_odds`` (nats), ``probability``,
            ``log_probability`` or ``logit``. A model that gives one number has no probability: the
            number itself is explained.
        players: ``words`` or ``tokens``.
        removal: How players are removed when the method asks for it.
        seed: Of the method's draws.
        infill: A masked language model that draws stand-ins for removed words; by default they are
            drawn from the text itself.
        dtype: Of a model loaded from a folder or the Hub, such as ``bfloat16``; float32 by default.
        device: Where it runs: ``cpu``, ``cuda`` or ``auto``.

    Raises:
        AttrialError: For an unknown method, label or removal, an empty text, a missing model.
    """
    asked = plugin_call.method(method)
    _check(seed, function)
    classifier = classifier_of(model, dtype=dtype, device=device)
    texts = (text,) if text_pair is None else (text, text_pair)
    x = classifier.encode("text", texts, players=players)
    classifier = filled(classifier, [x], infill)
    require(classifier, removal)
    outputs = classifier.keep([(Subject(x, removal, Target(0)), everything(x.n))])[0]
    index = int(np.argmax(outputs[0])) if target is None else _label(classifier, target)
    subject = Subject(x, removal, Target.of(x, index, function))
    one = len(outputs[0]) == 1
    if one and function not in ("log_odds", "logit"):
        raise AttrialError(f"the model gives one number: it has no {function}; leave function out")
    (got,) = answer(Value(classifier), [(subject, asked(x, seed))])
    if got.result is None:
        raise AttrialError(f"method {method} gave no scores: {got.undefined}")
    return Explanation(
        players=x.players,
        scores=got.result,
        target=classifier.labels[index],
        probability=None if one else float(Target.of(x, index, "probability").read(outputs)[0]),
        method=asked.bound.text,
        removal=removal,
        function="value" if one else function,
        notes=got.notes,
        truncated=x.truncated,
        output=float(outputs[0, index]),
    )


def _check(seed: int, function: str) -> None:
    if seed < 0:
        raise AttrialError(f"seed={seed}; it takes 0 or more")
    if function not in FUNCTIONS:
        raise AttrialError(f"no target function {function!r}; {near(function, FUNCTIONS)}")


def _label(classifier: TextClassifier, target: str | int) -> int:
    labels = list(classifier.labels)
    if isinstance(target, str) and target in labels:
        return labels.index(target)
    if str(target).isdecimal() and int(target) < len(labels):
        return int(target)
    raise AttrialError(f"label {target!r} is not one of the model's: {', '.join(labels)}")
