"""What notebooks and commands call to explain one text."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from attrial import plugin_call
from attrial.classifiers import ModelLike, classifier_of, filled, known_words, require, usual
from attrial.errors import AttrialError, NotApplicable, near
from attrial.example import Example
from attrial.explanation import Explanation
from attrial.masks import Floats, everything
from attrial.models.causal import CausalModel
from attrial.models.heads_choice import ChoiceModel
from attrial.models.heads_models import AnswerModel, Headed
from attrial.models.text import TextClassifier
from attrial.plugin_call import PluginMethod
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
    removal: str | None = None,
    continuation: str | None = None,
    foil: str | None = None,
    position: int | None = None,
    choices: Sequence[str] = (),
    chat: bool = False,
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
        target: Label (or its number) to explain; the predicted one by default. Of an answer its
            ``start`` (by default) or its ``end``.
        function: What of the target is explained: ``log_odds`` (nats), ``probability``,
            ``log_probability`` or ``logit``. A model that gives one number has no probability: the
            number itself is explained.
        players: ``words`` or ``tokens``.
        removal: How players are removed when the method asks for it: ``mask`` by default, or
            ``attention_off`` where there is no mask token.
        continuation: What a language model is asked about, white space before it included; by
            default the next token that it holds likeliest.
        foil: Another continuation: why the one rather than the other?
        position: Word (token, if these are players) that a token classifier labels, or at which an
            answer starts or ends, counted from 0; an answer's predicted place by default.
        choices: Of a multiple-choice model: its classes.
        chat: Whether the text is what a user says to a model that chats: its template is put
            around it, and stays.
        seed: Of the method's draws.
        infill: A masked language model that draws stand-ins for removed words; by default they are
            drawn from the text itself.
        dtype: Of a model loaded from a folder or the Hub, such as ``bfloat16``; float32 by default.
        device: Where it runs: ``cpu``, ``cuda`` or ``auto``.

    Raises:
        AttrialError: For an unknown method, label or removal, an empty text, a missing model.
    """
    asked = plugin_call.method(method)
    check(seed, function)
    classifier = conversing(classifier_of(model, dtype=dtype, device=device), chat)
    options = _options(classifier, continuation, foil, choices)
    if isinstance(classifier, AnswerModel) and target is not None:
        target, options = None, (str(target),)
    texts = (text,) if text_pair is None else (text, text_pair)
    x = _example(classifier, texts, players, options, position)
    classifier, removal = ready(classifier, x, removal, infill, asked)
    outputs = classifier.keep([(Subject(x, removal, Target(0)), everything(x.n))])[0]
    labels = x.names or classifier.labels
    index = _index(x, outputs) if target is None else label_of(labels, target)
    told, probability = _told(x, outputs, index, function)
    subject = Subject(x, removal, Target.of(x, index, function))
    (got,) = answer(Value(classifier), [(subject, asked(x, seed))])
    if got.result is None:
        raise AttrialError(f"method {method} gave no scores: {got.undefined}")
    return Explanation(
        players=x.players, scores=got.result, target=labels[index], probability=probability,
        signed=asked.bound.signed, class_blind=asked.bound.class_blind, texts=x.text, spans=x.spans,
        method=asked.bound.text, removal=removal, function=told, notes=got.notes,
        truncated=x.truncated, output=float(outputs[0, index]),
        foil=None if foil is None else next(n for i, n in enumerate(labels) if i != index),
    )  # fmt: skip


def _example(
    model: TextClassifier,
    texts: Sequence[str],
    players: str,
    options: Sequence[str],
    position: int | None,
) -> Example:
    if isinstance(model, Headed):
        return model.encode("text", texts, players=players, options=options, position=position)
    if position is not None:
        raise AttrialError(f"{model.spec.name} gives one answer to a text: leave position out")
    x = model.encode("text", texts, players=players, options=options)
    known_words(model, x.options if options else (), options)
    return x


def check(seed: int, function: str) -> None:
    """Refuse a negative seed, or a target function that there isn't."""
    if seed < 0:
        raise AttrialError(f"seed={seed}; it takes 0 or more")
    if function not in FUNCTIONS:
        raise AttrialError(f"no target function {function!r}; {near(function, FUNCTIONS)}")


def conversing(model: TextClassifier, chat: bool) -> TextClassifier:
    """The model, its texts put into the template of its chats if ``chat``.

    Raises:
        AttrialError: If it has no such template.
    """
    if not chat:
        return model
    if not isinstance(model, CausalModel):
        raise AttrialError(f"{model.spec.name} is no causal language model: it does not chat")
    return model.chatting()


def ready(
    model: TextClassifier,
    x: Example,
    removal: str | None,
    infill: str | Path | None,
    method: PluginMethod,
) -> tuple[TextClassifier, str]:
    """The model with a filler, and a removal that it can do.

    Raises:
        NotApplicable: If it can't do the one that is asked for, or answer what the method asks.
    """
    chosen = removal or usual(model)
    require(model, chosen)
    found = filled(model, [x], infill)
    for question in sorted(set(method.asks) - found.answers):
        raise NotApplicable(
            f"method {method.bound.text} is not applicable: it asks {question!r}, which "
            f"{model.spec.name} can't answer"
        )
    return found, chosen


def _options(
    model: TextClassifier, continuation: str | None, foil: str | None, choices: Sequence[str]
) -> tuple[str, ...]:
    """What is asked about, beside the labels that a model has of its own."""
    if foil is not None and continuation is None:
        raise AttrialError("a foil stands against a continuation: give that too")
    if continuation is not None and foil == continuation:
        raise AttrialError(f"the foil {foil!r} is the continuation itself; name another one")
    if continuation is not None and (model.labels or isinstance(model, Headed)):
        raise AttrialError(f"{model.spec.name} is a classifier: it continues no text")
    if choices and not isinstance(model, ChoiceModel):
        raise AttrialError(f"{model.spec.name} is no multiple-choice model: it takes no choices")
    return tuple(choices) or tuple(o for o in (continuation, foil) if o is not None)


def _index(x: Example, outputs: Floats) -> int:
    """The output that is explained where none is asked for."""
    return int(np.argmax(outputs[0])) if x.explained is None else x.explained


def _told(x: Example, outputs: Floats, index: int, function: str) -> tuple[str, float | None]:
    """What of the target is explained, and its probability, if it has one."""
    if len(outputs[0]) > 1:
        return function, float(Target.of(x, index, "probability").read(outputs)[0])
    if function not in ("log_odds", "logit"):
        raise AttrialError(f"the model gives one number: it has no {function}; leave function out")
    return "value", None


def label_of(labels: Sequence[str], target: str | int) -> int:
    """The number of a label, given by its name or its number.

    Raises:
        AttrialError: If there is no such label.
    """
    if isinstance(target, str) and target in labels:
        return list(labels).index(target)
    if str(target).isdecimal() and int(target) < len(labels):
        return int(target)
    raise AttrialError(f"label {target!r} is not one of the model's: {', '.join(labels)}")
