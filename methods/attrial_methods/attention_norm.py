"""Norm-based attention: how long the vectors are that attention hands on (Kobayashi 2020, 2021)."""

from attrial.ask import Asking, layers
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._compose import composed

SIGN = "nonnegative"
CLASS_SPECIFIC = False
ADDITIVE = False
STOCHASTIC = False
ASKS = ("layers",)
VERSION = 1

FORMS = {"norm": 0.5, "norm_residual": 0.0}  # and what rollout adds of the identity to each


def attention_norm(
    x: Example,
    *,
    seed: int,
    form: str = "norm",
    residual: float | None = None,
    layer: str | int = "rollout",
    start: int = 0,
) -> Asking[Scores]:
    """Score each player by the lengths of the vectors that reach the position that is read.

    The matrix of a layer is |sum_h A_h[i, j] v_j W_O| for query i and key j, rows scaled to sum 1:
    a key that is attended to for its small values counts for little.

    Formula:
        C[i, j] = ‖Σ_h A_h[i, j] v_h(x_j) W_O,h‖₂,  rows scaled to sum 1
        s_i = Σ_{t in player i} (rollout of C)[read, t]

    Source:
        Kobayashi et al., EMNLP 2020, arXiv:2004.10102; with residual and layer norm: Kobayashi et
        al., EMNLP 2021, arXiv:2109.07152.

    Traps:
        Lengths of vectors don't cancel: two keys that hand on opposite vectors both count. Norms of
        heads taken before their sum are another matrix. It sees no class and no sign.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
        form: ``norm`` (Kobayashi et al. 2020), or ``norm_residual``: with the residual on the
            diagonal and behind the layer norm, at its scale, where one stands on the sum (Kobayashi
            et al. 2021).
        residual: Share of the identity that rollout adds to each layer; None for 0.5 under ``norm``
            and nothing under ``norm_residual``, which has its own.
        layer: ``rollout`` multiplies all layers; or ``first``, ``last``, ``mean`` or ``max`` over
            layers, or a number (0 comes first), as they are.
        start: First layer that counts in ``rollout``.
    """
    if form not in FORMS:
        raise AttrialError(f"attention_norm: form={form!r}; it takes norm or norm_residual")
    reply = yield from layers(form)
    share = FORMS[form] if residual is None else residual
    return composed(x, reply.weights, residual=share, layer=layer, start=start)
