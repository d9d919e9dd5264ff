"""SmoothGrad: the gradient averaged over noisy copies of the input (Smilkov et al. 2017)."""

import numpy as np

from attrial.ask import Asking
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._options import at_least, within
from attrial_methods._ways import MOST_DRAWS, noisy_moment

SIGN = "magnitude"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = True
ASKS = ("slope",)
BUDGET = "samples"
VERSION = 1


def smooth_grad(
    x: Example,
    *,
    seed: int,
    samples: int = 50,
    noise: float = 0.1,
    order: int = 2,
    squared: bool = False,
) -> Asking[Scores]:
    """Score each player by the norm of the mean gradient under noise, summed over its tokens.

    Formula:
        s_i = Σ_{t in player i} ‖mean_k ∂y/∂x_t (x + ε_k)‖_p,  ε ~ N(0, noise · (max − min of x))
        squared=True: root of the mean of squares in place of the mean

    Source:
        Smilkov et al., 2017, arXiv:1706.03825; squared: Hooker et al., NeurIPS 2019,
        arXiv:1806.10758.

    Traps:
        Noise in images is grain; noise in embeddings is no word at all, and its scale against the
        distances of words is arbitrary. Averaging signed gradients lets opposite ones cancel,
        averaging squares doesn't: two methods. Unsigned.

    Args:
        x: The example.
        seed: Of the noise.
        samples: Noisy copies.
        noise: Standard deviation, as a share of the spread (max - min) of the input's embeddings.
        order: 1 or 2: which norm over the embedding.
        squared: Whether gradients are squared before they are averaged (SmoothGrad squared, Hooker
            et al. 2019); the norm is then of the root of that mean.
    """
    within("smooth_grad", "samples", samples, 1, MOST_DRAWS)
    at_least("smooth_grad", "noise", noise, 0)
    if order not in (1, 2):
        raise AttrialError(f"smooth_grad: order={order}; it takes 1 or 2")
    power = 2 if squared else 1
    moment = yield from noisy_moment(x.n, count=samples, noise=noise, power=power, seed=seed)
    return x.to_players(np.linalg.norm(moment ** (1 / power), ord=order, axis=-1))
