"""A metric read through another function of the target, from remembered outputs alone."""

from collections.abc import Mapping

import numpy as np

from attrial.ask import Asking, Keep, Note, Reply
from attrial.errors import Undefined
from attrial.masks import keys
from attrial.value import Subject, Value

# Which function a metric is also read through, beside the one that it names itself.
OTHER: Mapping[str, str] = {"probability": "log_odds", "log_odds": "probability"}


def reread(value: Value, subject: Subject, asker: Asking[float]) -> float | None:
    """What the asker returns if only remembered outputs answer it; no model is ever asked.

    None where the metric is undefined when it is read so, and where it asks what isn't remembered:
    another kind of question, or masks that depend on the values.
    """
    reply: Reply = None
    try:
        while True:
            question = asker.send(reply)
            if isinstance(question, Note):
                reply = None
            elif isinstance(question, Keep):
                reply = _remembered(value, subject, question)
            else:
                return None
    except StopIteration as stop:
        return float(stop.value) if np.isfinite(stop.value) else None
    except Undefined:
        return None


def _remembered(value: Value, subject: Subject, question: Keep) -> Reply:
    asked, known = keys(question.masks), value.known(subject)
    if any(key not in known.index for key in asked):
        raise Undefined("it asks about players that were not removed before")
    return subject.target.read(known.rows(asked))
