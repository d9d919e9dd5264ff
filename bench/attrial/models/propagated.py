"""Relevance of a classifier's word embeddings on one full input."""

import torch

from attrial.ask import Relevance, Relevances
from attrial.models import deep_lift
from attrial.models.attention import alone
from attrial.models.copies import gathered
from attrial.models.embedding import table
from attrial.models.forward import Forward
from attrial.models.propagation import rule
from attrial.models.reading import read
from attrial.models.relevance import relevance
from attrial.value import Subject


def propagated(subject: Subject, ask: Relevance, forward: Forward) -> Relevances:
    """Relevance (t,) of each position; call it under the guard. The input goes alone and unpadded.

    Raises:
        AttrialError: For an unknown rule.
        NotApplicable: If the model doesn't look its word embeddings up exactly once, or attends in
            one fused operation.
    """
    if ask.rule == deep_lift.NAME:
        return deep_lift.deep_lift(subject, forward)
    arguments, target = alone(subject, forward), subject.target

    def value(logits: torch.Tensor) -> torch.Tensor:
        index = torch.tensor([target.index], device=logits.device)
        return read(forward.answered(logits, arguments), index, target.function)

    found = relevance(
        forward.model,
        lambda: forward.raw(arguments),
        at=table(forward.model),
        read=value,
        rule=rule(ask.rule),
    )
    tokens = gathered(arguments, found.relevance)[0].cpu().numpy()
    return Relevances(tokens, found.conserved)
