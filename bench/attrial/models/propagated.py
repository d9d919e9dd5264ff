"""Relevance of a classifier's word embeddings on one full input."""

import numpy as np
import torch

from attrial.ask import Relevance, Relevances
from attrial.batching import Batch
from attrial.models.embedding import table
from attrial.models.forward import Forward
from attrial.models.propagation import rule
from attrial.models.reading import read
from attrial.models.relevance import relevance
from attrial.removal import in_place, stack
from attrial.value import Subject


def propagated(subject: Subject, ask: Relevance, forward: Forward) -> Relevances:
    """Relevance (t,) of each position; call it under the guard. The input goes alone and unpadded.

    Raises:
        AttrialError: For an unknown rule.
        NotApplicable: If the model doesn't look its word embeddings up exactly once, or attends in
            one fused operation.
    """
    t = len(subject.example.ids)
    rows = stack([in_place(subject.example, 1)], width=t, pad=forward.pad)
    arguments = forward.arguments(rows, Batch(t, np.array([0]), 1))
    target = subject.target

    def value(logits: torch.Tensor) -> torch.Tensor:
        return read(logits, torch.tensor([target.index], device=logits.device), target.function)

    return relevance(
        forward.model,
        lambda: forward(arguments),
        at=table(forward.model),
        read=value,
        rule=rule(ask.rule),
    ).answer()
