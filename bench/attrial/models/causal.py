"""Causal language models behind the questions: how likely continuations of a prompt are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from transformers import AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerBase

from attrial.example import Example
from attrial.models import pairing
from attrial.models.continuing import Continuing
from attrial.models.loading import CAUSAL, fetch, source
from attrial.models.probing import forward_of
from attrial.models.prompts import Prompts
from attrial.models.text import TextClassifier, model_spec


@dataclass(frozen=True, eq=False)
class CausalModel(TextClassifier):
    """A causal language model with its tokenizer, whose classes are the continuations asked about.

    Build one with ``CausalModel.load`` (a folder or a name on the Hub) or ``CausalModel.of``
    (loaded objects). Raw outputs are log-probabilities, as ``Continuing`` says.
    """

    @classmethod
    def load(
        cls,
        place: str | Path,
        *,
        revision: str | None = None,
        dtype: str = "float32",
        device: str = "cpu",
        batch_tokens: int | None = None,
    ) -> "CausalModel":
        """Load a model from a folder or the Hub; arguments are those of ``TextClassifier.load``.

        Raises:
            AttrialError: If there is no trained one there, or it can't be fetched.
        """
        src = source(place, revision)
        model, tokenizer = fetch(
            src, dtype=dtype, device=device, kind=CAUSAL, auto=AutoModelForCausalLM
        )
        found = getattr(model.config, "_commit_hash", None)
        return _build(model, tokenizer, src.name, found or src.revision, batch_tokens)

    @classmethod
    def of(
        cls,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        name: str | None = None,
        batch_tokens: int | None = None,
    ) -> "CausalModel":
        """Take a loaded model; its modes are its own again after each question.

        Raises:
            AttrialError: If it is no causal language model, or the tokenizer is not a fast one.
        """
        return _build(model, tokenizer, name or type(model).__name__, None, batch_tokens)

    @property
    def labels(self) -> tuple[str, ...]:
        """None: each example brings its own."""
        return ()

    def encode(
        self,
        id: str,
        texts: Sequence[str],
        *,
        players: str = "words",
        evidence: Sequence[tuple[int, int, int]] | None = None,
        label: int | None = None,
        options: Sequence[str] = (),
    ) -> Example:
        """Cut a prompt into players, and ask about its continuations; the first is explained.

        Without any, the one that is asked about is the token that the model holds likeliest.

        Raises:
            AttrialError: What ``Encoder.encode`` and ``Prompts.ask`` say.
        """
        encoder = self.encoder
        assert isinstance(encoder, Prompts)
        room = replace(encoder, limit=encoder.limit - _longest(encoder, texts, options) + 1)
        x = room.encode(id, texts, players=players, evidence=evidence, label=label)
        return encoder.ask(x, options) if options else self._own(x)

    def _own(self, x: Example) -> Example:
        (best,) = self.predict([x])
        text = str(self.encoder.tokenizer.decode([best]))
        return replace(x, options=((best,),), labels=(text,), explained=0)


def _longest(encoder: Prompts, texts: Sequence[str], options: Sequence[str]) -> int:
    """Tokens of the longest continuation."""
    return max(
        (len(encoder.tokenizer(o, add_special_tokens=False).input_ids) for o in options), default=1
    )


def _build(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    name: str,
    revision: str | None,
    batch_tokens: int | None,
) -> CausalModel:
    pairing.check(model, tokenizer, kind=CAUSAL)
    pad, tokens = pairing.padding(model, tokenizer), batch_tokens or pairing.budget(model)
    forward = forward_of(model, pad=pad, tokens=tokens, kinds=(Continuing,))
    room = pairing.limit(forward, tokenizer)
    encoder = Prompts(tokenizer, room, False, pairing.anchor(tokenizer), True)
    words, spec = pairing.vocabulary(tokenizer), model_spec(forward, name, revision)
    return CausalModel(forward, encoder, words, spec, pairing.answers(forward))
