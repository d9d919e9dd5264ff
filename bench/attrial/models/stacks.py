"""Attention of an encoder and a decoder on one input, as the answer to one question."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from attrial.ask import Attention
from attrial.masks import Floats
from attrial.models.copies import PLACES, Arguments, copies
from attrial.models.shown import Part
from attrial.models.tap import Captured


def of_two(
    arguments: Arguments, captured: Captured[Tensor], gradient: Sequence[Tensor] | None
) -> Attention:
    """The three parts of one row's attention: the encoder's, the decoder's, and between them.

    The decoder's positions are those of what it has said, without any continuation: its last one is
    where the first token that is asked about is read. Of several copies, which attend alike there,
    the weights are one's and the gradients are summed.
    """
    said = int(arguments[PLACES][0, 0]) + 1
    times = copies(arguments)

    def part(name: Part) -> Attention:
        here = [i for i, found in enumerate(captured.parts) if found == name]
        rows = slice(None) if name == "encoder" else slice(said)
        keys = slice(said) if name == "decoder" else slice(None)

        def stacked(layers: Sequence[Tensor], share: int) -> Floats:
            cut = [layers[i][..., rows, keys].detach().double().sum(dim=0) / share for i in here]
            return np.stack([layer.cpu().numpy() for layer in cut])

        weights = stacked(captured.weights, times)
        seen = [captured.seen[i][rows, keys].cpu().numpy() for i in here if captured.seen]
        slopes = None if gradient is None else stacked(gradient, 1)
        return Attention(weights, slopes, seen=np.stack(seen) if seen else None)

    encoder, decoder, cross = part("encoder"), part("decoder"), part("cross")
    return Attention(encoder.weights, encoder.gradient, decoder, cross, encoder.seen)
