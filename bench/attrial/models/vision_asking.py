"""What differs for images in the answers: where paths begin, and positions without padding."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from attrial.ask import Relevance, Relevances, Slope, Suppress
from attrial.batching import Batch, evenly
from attrial.errors import NotApplicable
from attrial.masks import Floats
from attrial.models import deep_lift
from attrial.models.attention import alone
from attrial.models.embedding import Baselines, lookup, table
from attrial.models.propagation import rule
from attrial.models.reading import read
from attrial.models.relevance import relevance
from attrial.models.shares import Propagated
from attrial.models.tap import capture
from attrial.models.vision_forward import VisionForward
from attrial.models.vision_model import PatchTable
from attrial.patches import MEAN
from attrial.removal import Rows, in_place, stack
from attrial.subject import Subject

KNOWN = ("mean", "reference", "sampled", "zero")


class PatchBaselines(Baselines):
    """Where paths to an image start: ``zero`` embeddings, a patch of the ``mean`` colour, or noise.

    ``reference`` is the mean colour. ``sampled`` draws every pixel from a standard normal, which is
    what normalised pixels have for mean and deviation.
    """

    def start(self, ask: Slope, t: int) -> Tensor:
        """Where each row of a question starts: (k, t, d), or (1, 1, d) where all start alike.

        Raises:
            NotApplicable: If there is no such baseline.
        """
        if ask.baseline != "sampled":
            return self.vector(ask.baseline)[None, None]
        words = table(self.model)
        assert isinstance(words, PatchTable)
        draws = [0] if ask.draws is None else [int(draw) for draw in ask.draws]
        size = words.patches.size
        noise = [np.random.default_rng([ask.seed, d]).standard_normal(size) for d in draws]
        with torch.no_grad():
            found = words.embed(torch.from_numpy(np.stack(noise))).double()
        prefix = found.new_zeros(len(found), words.patches.prefix, found.shape[2])
        return torch.cat([prefix, found], dim=1)

    def vector(self, name: str) -> Tensor:
        """The baseline's embedding (d,) in float64.

        Raises:
            NotApplicable: If there is no such baseline.
        """
        if name not in KNOWN:
            raise NotApplicable(f"no baseline {name!r} for images; known are {', '.join(KNOWN)}")
        words = table(self.model)
        assert isinstance(words, PatchTable)
        ids = np.full(words.patches.prefix + 1, MEAN)
        return lookup(self.model, ids)[-1] * (name != "zero")


def propagated(subject: Subject, ask: Relevance, forward: VisionForward) -> Relevances:
    """Relevance (t,) of each patch's embedding; call it under the guard.

    What the class token and the places take counts as arrived: it is known from a second pass that
    begins where they were added.
    """
    if ask.rule == deep_lift.NAME:
        return deep_lift.deep_lift(subject, forward)
    arguments, target = alone(subject, forward), subject.target

    def value(logits: Tensor) -> Tensor:
        return read(logits, torch.tensor([target.index], device=logits.device), target.function)

    def begun(at: torch.nn.Module) -> Propagated:
        model = forward.model
        return relevance(model, lambda: forward(arguments), at=at, read=value, rule=rule(ask.rule))

    found = begun(table(forward.model))
    whole = begun(forward.patched.body) if forward.square else found
    return Relevances(found.answer().tokens, whole.conserved)


def suppressed(asks: Sequence[tuple[Subject, Suppress]], forward: VisionForward) -> list[Floats]:
    """Outputs (k, classes) with attention scores to players scaled down in every layer.

    Raises:
        NotApplicable: If the model's attention can't be edited.
    """
    parts = [in_place(subject.example, len(ask.shares)) for subject, ask in asks]
    factors = np.concatenate([_factors(subject, ask) for subject, ask in asks])
    rows = stack(parts, width=factors.shape[1])
    out = np.empty((len(factors), forward.classes))
    for batch in evenly(rows.lengths, tokens=forward.tokens):
        logits = _scaled(forward, rows, batch, factors[batch.rows])
        out[batch.rows[: batch.fresh]] = logits[: batch.fresh].double().cpu().numpy()
    return list(np.split(out, np.cumsum([len(ask.shares) for _, ask in asks])[:-1]))


def _scaled(forward: VisionForward, rows: Rows, batch: Batch, factors: Floats) -> Tensor:
    """Logits (R, classes) of one batch, scores scaled by factors (R, t) of the keys."""
    scale = torch.from_numpy(factors).to(forward.device, forward.model.dtype)[:, None, None, :]
    arguments = forward.arguments(rows, batch)
    return capture(
        forward.model,
        lambda: forward(arguments),
        edit=lambda layer, scores: scores * scale,
        fold=lambda weights: weights.new_empty(0),
    ).outputs


def _factors(subject: Subject, ask: Suppress) -> Floats:
    """What is left of the attention to each position: (k, t), 1 where it is fixed."""
    fixed = np.zeros((len(ask.shares), 1))
    shares = np.concatenate([ask.shares, fixed], axis=1)
    return np.asarray(1.0 - shares[:, subject.example.owner])
