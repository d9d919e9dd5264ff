"""The word embeddings of a model: read, blanked or replaced by a hook, while ids stay ids.

Heads that look for padding in ``input_ids`` go on working, which they don't on ``inputs_embeds``.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from attrial.ask import Slope
from attrial.errors import NotApplicable
from attrial.masks import Ints
from attrial.removal import Vocabulary


@contextmanager
def edited(model: PreTrainedModel, edit: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """One forward whose word embeddings (R, w, d) go through ``edit`` first.

    Raises:
        NotApplicable: If the model didn't look its word embeddings up exactly once, row by row.
    """
    watch = _Watch(type(model).__name__, edit)
    handles = (
        model.register_forward_pre_hook(watch.see, with_kwargs=True),
        table(model).register_forward_hook(watch.hook, with_kwargs=True),
    )
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
    if watch.fired != 1:
        raise NotApplicable(
            f"{watch.name} looks its word embeddings up {watch.fired} times a forward, not once"
        )


@dataclass
class _Watch:
    """What one forward is given, and how often it looks words up."""

    name: str
    edit: Callable[[Tensor], Tensor]
    fired: int = 0
    given: Tensor | None = None

    def see(self, module: nn.Module, args: object, named: dict[str, Tensor]) -> None:
        ids = named["input_ids"]
        self.given = ids.flatten(0, 1) if ids.ndim == 3 else ids  # choices below each other

    def hook(
        self,
        module: nn.Module,
        args: tuple[Tensor, ...],
        named: dict[str, Tensor],
        output: Tensor,
    ) -> Tensor:
        self.fired += 1
        looked_up = next(iter((*args, *named.values())))
        if self.given is None or not torch.equal(looked_up, self.given):
            raise NotApplicable(
                f"{self.name} looks its words up in another order than it is given them"
            )
        return self.edit(output)


def table(model: PreTrainedModel) -> nn.Module:
    """The module that turns ids into word embeddings; of two stacks, the encoder's own.

    Encoder-decoders hold a shared one beside those of their stacks, which they never call.
    """
    inner = model.get_encoder() if model.config.is_encoder_decoder else model
    module = (inner if isinstance(inner, PreTrainedModel) else model).get_input_embeddings()
    if not isinstance(module, nn.Module):
        raise NotApplicable(f"{type(model).__name__} has no word embeddings")
    return module


def lookup(model: PreTrainedModel, ids: Ints) -> Tensor:
    """Word embeddings of ids (t,) in float64: (t, d)."""
    device = next(model.parameters()).device
    with torch.no_grad():
        found: Tensor = table(model)(torch.as_tensor(ids, device=device)[None])[0]
    return found.double()


@dataclass(frozen=True)
class Baselines:
    """Where paths to the input start, by name: ``zero``, a token of the vocabulary, or the mean."""

    model: PreTrainedModel
    vocabulary: Vocabulary

    def start(self, ask: Slope, t: int) -> Tensor:
        """Where each row of a question starts: (k, t, d), or (1, 1, d) where all start alike.

        Raises:
            NotApplicable: If the tokenizer has no such token, or there is no such baseline.
        """
        if ask.baseline != "sampled":
            return self.vector(ask.baseline)[None, None]
        draws = np.zeros(1, int) if ask.draws is None else ask.draws
        tokens = np.stack([self._drawn(ask.seed, int(draw), t) for draw in draws])
        return lookup(self.model, tokens.ravel()).reshape(*tokens.shape, -1)

    def _drawn(self, seed: int, draw: int, t: int) -> Ints:
        """A token of the vocabulary, none of them special, at each of t positions."""
        weight = table(self.model).weight
        assert isinstance(weight, Tensor)
        ordinary = np.setdiff1d(np.arange(len(weight)), sorted(self.vocabulary.special))
        return np.random.default_rng([seed, draw]).choice(ordinary, t)

    def vector(self, name: str) -> Tensor:
        """The baseline's word embedding (d,) in float64.

        Raises:
            NotApplicable: If the tokenizer has no such token, or there is no such baseline.
        """
        if name == "reference":
            return self._reference()
        if name in ("zero", "mean"):
            return self._mean() * (name == "mean")
        return self._token(name)

    def _reference(self) -> Tensor:
        """The most neutral token's, or the mean where there is none but zeros.

        Padding is often all zeros. A norm that divides by the length (RMSNorm) jumps there, so that
        gradients on the way to it never add up.
        """
        v = self.vocabulary
        neutral = [np.array([t]) for t in (v.mask, v.pad, v.unk) if t is not None]
        found = (lookup(self.model, token)[0] for token in neutral)
        return next((vector for vector in found if vector.any()), self._mean())

    def _token(self, name: str) -> Tensor:
        tokens = {
            "mask": self.vocabulary.mask,
            "pad": self.vocabulary.pad,
            "unk": self.vocabulary.unk,
        }
        if name not in tokens:
            raise NotApplicable(
                f"no baseline {name!r}; "
                f"known are {', '.join(tokens)}, mean, reference, sampled, zero"
            )
        token = tokens[name]
        if token is None:
            raise NotApplicable(f"the tokenizer has no {name} token to start from")
        return lookup(self.model, torch.tensor([token]).numpy())[0]

    def _mean(self) -> Tensor:
        weight = table(self.model).weight
        assert isinstance(weight, Tensor)
        return lookup(self.model, torch.arange(len(weight)).numpy()).mean(dim=0)
