"""The questions that methods and metrics ask of a model, without ever holding one.

A method or metric is a generator about one example. It yields questions and is sent answers; the
typed helpers below do both: ``values = yield from keep(masks)``. One loop (``attrial.value``)
advances the askers of many examples side by side and pools what they ask.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from attrial.errors import NotApplicable
from attrial.errors import Undefined as Undefined
from attrial.example import Example as Example
from attrial.masks import Floats, Ints, Masks, Values
from attrial.replies import Attention as Attention
from attrial.replies import Relevances as Relevances
from attrial.replies import Slopes as Slopes

Noted = float | list[float]


@dataclass(frozen=True, eq=False)
class Keep:
    """What is the target's value when only these players stay? ``masks`` (k, n) bool."""

    masks: Masks


@dataclass(frozen=True, eq=False)
class Slope:
    """What is the target's gradient at points between a baseline and the input?

    Attributes:
        points: (k, n) how far each player has gone from baseline (0) to input (1). Fixed
            positions stay at the input.
        baseline: ``zero``, ``mask``, ``pad``, ``unk``, ``mean`` (of the vocabulary's embeddings),
            ``reference``: the model's most neutral token (mask, else pad, else unk, the first whose
            embedding isn't zero, else mean), or ``sampled``: at each position a token drawn from
            the vocabulary, specials left out.
        noise: Standard deviation of Gaussian noise on the players' embeddings, as a share of the
            spread (max - min) of the input's embeddings.
        seed: Of the noise and of sampled baselines.
        draws: (k,) the number of the sampled baseline that each row starts from; None: one for all.
        at: ``words`` (word embeddings) or ``layers``: what the first layer takes, with positions,
            types and the norm on them, where a model has such; at the input alone.
    """

    points: Floats
    baseline: str = "reference"
    noise: float = 0.0
    seed: int = 0
    draws: Ints | None = None
    at: str = "words"


@dataclass(frozen=True)
class Attend:
    """What are the attention weights on the full input, folded over heads if ``fuse`` is given?

    Attributes:
        fuse: None, ``mean``, ``max`` or ``min`` over heads, folded layer by layer.
        gradient: Whether the target's gradient with respect to the weights comes along (folding
            is then refused: products come before sums).
        scale: Factor on the post-softmax weights during the pass (attention attribution).
        layer: The only layer whose weights are scaled, of two stacks the only one between them;
            None for all.
    """

    fuse: str | None = None
    gradient: bool = False
    scale: float = 1.0
    layer: int | None = None


@dataclass(frozen=True)
class Relevance:
    """What is each position's relevance, by one backward pass under modified rules?

    ``rule`` is ``conservative`` (CP-LRP), ``attention`` (AttnLRP) or ``deep_lift`` (Captum's
    DeepLift, from zero embeddings).
    """

    rule: str


@dataclass(frozen=True, eq=False)
class Soften:
    """What is the target's value when players fade? ``shares`` (k, n) in [0, 1], 1 = kept.

    Each element of a player's word embeddings is kept with its share's probability, else it becomes
    zero: one draw a row, from ``seed`` and the row's number (Zhao & Aletras 2023).
    """

    shares: Floats
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Suppress:
    """What is the target's value when players are attended to less? ``shares`` (k, n) in [0, 1].

    In every layer, attention scores to a player's positions are multiplied by 1 minus its share
    before the softmax (AtMan, Deiseroth et al. 2023).
    """

    shares: Floats


@dataclass(frozen=True, eq=False)
class Infill:
    """What is the target's value when others stand in for removed players? ``masks`` (k, n) bool.

    The stand-ins are drawn by the model's filler: one draw a row, from ``seed`` and the row's
    number.
    """

    masks: Masks
    seed: int = 0


@dataclass(frozen=True)
class Layers:
    """What does each layer hand from position to position? Answered by (L, t, t) matrices.

    ``kind`` is ``norm``, ``norm_residual``, ``alti``, ``value_zeroing`` or ``mixing``.
    """

    kind: str


@dataclass(frozen=True, eq=False)
class Note:
    """Something to write into the record beside the scores: not a question to the model."""

    noted: Mapping[str, Noted]


Question = Keep | Slope | Attend | Relevance | Soften | Suppress | Infill | Layers | Note
Reply = Values | Slopes | Attention | Relevances | None
R = TypeVar("R")
Asking = Generator[Question, Reply, R]


def keep(masks: Masks) -> Asking[Values]:
    """Values of the target when only the kept players stay: (k, n) bool -> (k,)."""
    reply = yield Keep(np.asarray(masks, bool))
    assert isinstance(reply, np.ndarray)
    return reply


def slope(
    points: npt.ArrayLike,
    *,
    baseline: str = "reference",
    noise: float = 0.0,
    seed: int = 0,
    draws: Ints | None = None,
    at: str = "words",
) -> Asking[Slopes]:
    """Gradients at points between baseline and input: (k, n) shares -> ``Slopes``."""
    reply = yield Slope(np.asarray(points, np.float64), baseline, noise, seed, draws, at)
    assert isinstance(reply, Slopes)
    return reply


def attend(
    *,
    fuse: str | None = None,
    gradient: bool = False,
    scale: float = 1.0,
    layer: int | None = None,
    stacks: int = 1,
) -> Asking[Attention]:
    """Attention weights on the full input, with their gradients if asked for.

    ``stacks=2`` says that whoever asks reads a second stack's matrices where there are some.

    Raises:
        NotApplicable: If a model of two stacks answers and one was expected.
    """
    reply = yield Attend(fuse, gradient, scale, layer)
    assert isinstance(reply, Attention)
    if reply.cross is not None and stacks == 1:
        raise NotApplicable("this model attends in two stacks, of which this method knows one")
    return reply


def relevance(rule: str) -> Asking[Relevances]:
    """Relevance of the word embeddings for the target; ``rule`` as in ``Relevance``."""
    reply = yield Relevance(rule)
    assert isinstance(reply, Relevances)
    return reply


def soften(shares: npt.ArrayLike, *, seed: int = 0) -> Asking[Values]:
    """Values when each embedding element stays with its player's share: (k, n) -> (k,)."""
    reply = yield Soften(np.asarray(shares, np.float64), seed)
    assert isinstance(reply, np.ndarray)
    return reply


def suppress(shares: npt.ArrayLike) -> Asking[Values]:
    """Values when attention scores to players shrink by their shares: (k, n) -> (k,)."""
    reply = yield Suppress(np.asarray(shares, np.float64))
    assert isinstance(reply, np.ndarray)
    return reply


def infill(masks: Masks, *, seed: int = 0) -> Asking[Values]:
    """Values with stand-ins drawn for removed players: (k, n) bool -> (k,)."""
    reply = yield Infill(np.asarray(masks, bool), seed)
    assert isinstance(reply, np.ndarray)
    return reply


def layers(kind: str) -> Asking[Attention]:
    """Matrices (L, t, t) of what each layer hands from key to query: ``norm``, ``alti``, ..."""
    reply = yield Layers(kind)
    assert isinstance(reply, Attention)
    return reply


def note(noted: Mapping[str, Noted]) -> Asking[None]:
    """Write numbers into this example's record, beside its scores or its value."""
    yield Note(noted)
