"""Altered copies of a classifier, for checks that re-explain; the classifier itself stays."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel

from attrial.errors import AttrialError, NotApplicable, near
from attrial.example import Example
from attrial.masks import Floats, Ints, everything
from attrial.models.causal import CausalModel
from attrial.models.embedding import table
from attrial.models.padded import Padded
from attrial.models.seq2seq import Seq2SeqModel
from attrial.models.strata import Stratum, begin_anew, shuffle, strata
from attrial.models.text import TextClassifier
from attrial.models.vision import VisionClassifier
from attrial.subject import Subject
from attrial.target import Target

SHIFT = 1.0  # of the constant shift, in standard deviations of the embeddings
SAME = 1e-5  # outputs of two forms of one function differ by less, as a share of the largest
HOWS = {"shuffle": shuffle, "init": begin_anew}


@dataclass(frozen=True, eq=False)
class Altered:
    """Altered forms of one classifier; satisfies ``attrial.check_bench.Alterations``.

    Attributes:
        classifier: The one that is altered in copies.
        examples: On which forms of one function are shown to be the same.
        shuffled: Makes a model that was trained on shuffled labels, where that can be done.
    """

    classifier: TextClassifier
    examples: Sequence[Example]
    shuffled: Callable[[], TextClassifier] | None = None

    @property
    def strata(self) -> tuple[str, ...]:
        """Names of the groups of parameters, the output's first."""
        return tuple(self._strata)

    @cached_property
    def _strata(self) -> dict[str, Stratum]:
        return {s.name: s for s in strata(self.classifier.forward.model)}

    def randomised(
        self, strata: Sequence[str], *, seed: int, how: str = "shuffle"
    ) -> TextClassifier:
        """With the parameters of some strata at random; one seed draws alike for each stratum.

        Raises:
            AttrialError: If ``how`` is neither ``shuffle`` nor ``init``.
        """
        if how not in HOWS:
            raise AttrialError(f"no way {how!r} to randomise parameters; {near(how, HOWS)}")
        found = self._copy()
        names = [name for s in strata for name in self._strata[s].parameters]
        HOWS[how](found.forward.model, names, seed=seed)
        return found

    def shifted(self, *, seed: int) -> TextClassifier:
        """With a constant added to all word embeddings and taken from a table that joins them.

        Raises:
            NotApplicable: If no other table of embeddings is added to the words'.
        """
        words = table(self.classifier.forward.model)
        assert isinstance(words.weight, torch.Tensor)
        size = SHIFT * float(words.weight.detach().double().std())
        constant = size * np.random.default_rng(seed).standard_normal(words.weight.shape[1])
        for name in _tables(self.classifier.forward.model):
            found = self._copy()
            model = found.forward.model
            _add(table(model), constant)
            _add(model.get_submodule(name), -constant)
            if self._same(found):
                return found
        raise NotApplicable("no other embeddings are added to the words': nothing makes up a shift")

    def noisy(self, *, radius: float, seed: int) -> TextClassifier:
        """With noise of a random direction, ``radius`` times the norm, on the inputs' words."""
        found = self._copy()
        weight = table(found.forward.model).weight
        assert isinstance(weight, torch.Tensor)
        used = self._used()
        noise = np.random.default_rng(seed).standard_normal((len(used), weight.shape[1]))
        noise *= radius / np.linalg.norm(noise, axis=1, keepdims=True)
        rows = torch.from_numpy(used).to(weight.device)
        with torch.no_grad():
            norms = weight[rows].double().norm(dim=1, keepdim=True)
            weight[rows] += (norms * torch.from_numpy(noise).to(weight.device)).to(weight.dtype)
        return found

    def _used(self) -> Ints:
        """Ids of all words of the examples, special tokens left out."""
        ids = {int(i) for x in self.examples for i in x.ids[x.owner >= 0]}
        return np.array(sorted(ids - self.classifier.vocabulary.special), np.int64)

    def permuted(self, *, seed: int) -> TextClassifier:
        """With hidden units between two linear layers in another order, wherever that is the same.

        Raises:
            NotApplicable: If there are no such units.
        """
        found, rng, moved = self._copy(), np.random.default_rng(seed), 0
        for first, second in _pairs(found.forward.model):
            order = torch.from_numpy(rng.permutation(first.out_features))
            _permute(first, second, order)
            if self._same(found):
                moved += 1
            else:
                _permute(first, second, torch.argsort(order))
        if not moved:
            raise NotApplicable("no hidden units were found whose order doesn't matter")
        return found

    def padded(self, extra: int) -> TextClassifier:
        """With every row of every question padded by ``extra`` more positions.

        Raises:
            NotApplicable: If the model's positions end before.
        """
        given = self.classifier
        if isinstance(given, VisionClassifier):
            raise NotApplicable("images are never padded")
        longest = max(len(x.ids) for x in self.examples)
        places = int(getattr(given.forward.model.config, "max_position_embeddings", 0) or 0)
        if 0 < places - given.forward.offset < longest + extra:
            raise NotApplicable(f"the model has no room for {extra} more positions")
        return Padded.by(given, extra)

    def rebatched(self, tokens: int) -> TextClassifier:
        """With batches of so many token positions."""
        return replace(self.classifier, forward=replace(self.classifier.forward, tokens=tokens))

    def mislabelled(self) -> TextClassifier:
        """A model of the same architecture that was trained on shuffled labels.

        Raises:
            NotApplicable: If none was given and none can be trained here.
        """
        if self.shuffled is None:
            if isinstance(self.classifier, CausalModel | Seq2SeqModel):
                raise NotApplicable("a language model is trained on texts: no labels to shuffle")
            raise NotApplicable(
                "no model trained on shuffled labels; give one with --shuffled-model FOLDER"
            )
        return self.shuffled()

    def _copy(self) -> TextClassifier:
        forward = self.classifier.forward
        return replace(
            self.classifier, forward=replace(forward, model=copy.deepcopy(forward.model))
        )

    def _same(self, other: TextClassifier) -> bool:
        """Whether another form gives the same outputs on all examples, but for rounding."""
        apart = np.abs(_outputs(other, self.examples) - self._own).max()
        return bool(apart <= SAME * np.abs(self._own).max())

    @cached_property
    def _own(self) -> Floats:
        return _outputs(self.classifier, self.examples)


def _outputs(classifier: TextClassifier, examples: Sequence[Example]) -> Floats:
    """Outputs of all full inputs in one row: examples may have unlike numbers of options."""
    subjects = [(Subject(x, "zero", Target(0)), everything(x.n)) for x in examples]
    return np.concatenate([rows[0] for rows in classifier.keep(subjects)])


def _tables(model: PreTrainedModel) -> list[str]:
    """Names of the tables of embeddings as wide as the words', positions' before others."""
    words = table(model)
    found = {
        name: m
        for name, m in model.named_modules()
        if isinstance(m, nn.Embedding)
        and m is not words
        and m.embedding_dim == getattr(words, "embedding_dim", None)
    }
    return sorted(found, key=lambda name: -found[name].num_embeddings)


def _add(module: nn.Module, constant: Floats) -> None:
    assert isinstance(module.weight, torch.Tensor)
    with torch.no_grad():
        shift = torch.from_numpy(constant).to(module.weight)
        module.weight.add_(shift)


def _pairs(model: PreTrainedModel) -> list[tuple[nn.Linear, nn.Linear]]:
    """Linear layers that follow each other and could feed each other."""
    found = [m for m in model.modules() if isinstance(m, nn.Linear)]
    pairs = pairwise(found)
    return [(a, b) for a, b in pairs if a.out_features == b.in_features]


def _permute(first: nn.Linear, second: nn.Linear, order: torch.Tensor) -> None:
    """Put the units between two layers into another order, in place."""
    with torch.no_grad():
        first.weight.copy_(first.weight[order].clone())
        if first.bias is not None:
            first.bias.copy_(first.bias[order].clone())
        second.weight.copy_(second.weight[:, order].clone())
