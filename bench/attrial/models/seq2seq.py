"""Encoder-decoders behind the questions: how likely a decoder's words are, given a source text."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from transformers import AutoModelForSeq2SeqLM, PreTrainedTokenizerBase

from attrial.example import Example
from attrial.models import pairing
from attrial.models.forward import Forward
from attrial.models.growing import ends, grown
from attrial.models.language import LanguageModel
from attrial.models.loading import SEQUENCE
from attrial.models.probing import places
from attrial.models.sources import Sources
from attrial.models.spoken import check_tied
from attrial.models.translating import Translating, beginning
from attrial.record import ModelSpec


@dataclass(frozen=True, eq=False)
class Seq2SeqModel(LanguageModel):
    """An encoder-decoder with its tokenizer, whose classes are the continuations asked about.

    The players are those of the source text, which the encoder reads; what the decoder has said
    stays as it is. Build one with ``Seq2SeqModel.load`` (a folder or a name on the Hub) or
    ``Seq2SeqModel.of`` (loaded objects). Raw outputs are log-probabilities, as ``Continuing`` says.
    """

    KIND = SEQUENCE
    AUTO = AutoModelForSeq2SeqLM
    FORWARDS = (Translating,)

    @classmethod
    def paired(cls, forward: Forward, tokenizer: PreTrainedTokenizerBase, spec: ModelSpec) -> Self:
        """Put a model behind the questions, with an encoder of its texts."""
        model, start = forward.model, pairing.anchor(tokenizer)
        room, said = pairing.limit(forward, tokenizer), places(model) or tokenizer.model_max_length
        encoder = Sources(tokenizer, room, False, start, begin=beginning(model), said=said)
        words = pairing.vocabulary(tokenizer)
        return cls(forward, encoder, words, spec, pairing.answers(forward))

    def encode(
        self,
        id: str,
        texts: Sequence[str],
        *,
        players: str = "words",
        evidence: Sequence[tuple[int, int, int]] | None = None,
        label: int | None = None,
        spans: Sequence[tuple[int, int, int]] = (),
        fixed: Sequence[tuple[int, int, int]] = (),
        options: Sequence[str] = (),
        prefix: str = "",
    ) -> Example:
        """Cut a source text into players, and ask how the decoder goes on; the first is explained.

        Without continuations, the one that is asked about is the token that the model holds
        likeliest after the prefix.

        Raises:
            AttrialError: What ``Encoder.encode`` and ``Sources.ask`` say.
        """
        encoder = self.sources
        x = encoder.encode(
            id, texts, players=players, evidence=evidence, label=label, spans=spans, fixed=fixed
        )
        if options:
            return encoder.ask(x, options, prefix)
        return self.next_token(x, encoder.target(prefix, len(prefix)))

    def generate(self, x: Example, count: int) -> tuple[int, ...]:
        """What the model says greedily: at most ``count`` tokens, its end among them.

        Raises:
            AttrialError: If that is more than its decoder takes.
        """
        self.sources.fits(x, len(x.prefix) + count)
        said: list[int] = []
        while len(said) < count and not (said and said[-1] in ends(self.forward.model)):
            said += self.predict([self.grown(x, said)])
        return tuple(said)

    def grown(self, x: Example, said: Sequence[int]) -> Example:
        """The source and what was said after the prefix, each token a player; nothing is asked.

        Raises:
            NotApplicable: If the stacks have embeddings of their own each.
        """
        check_tied(self.forward.model)
        longer = grown(x, said, self.shown(said))
        return replace(longer, read=x.read, spoken=len(said))

    @property
    def sources(self) -> Sources:
        """Its encoder of texts."""
        assert isinstance(self.encoder, Sources)
        return self.encoder

    def next_token(self, x: Example, before: Sequence[int]) -> Example:
        """The example, asking about the likeliest token after what the decoder said."""
        told = replace(x, options=(), prefix=(*self.sources.begin, *before))
        (best,) = self.predict([told])
        text = str(self.encoder.tokenizer.decode([best]))
        return self.sources.asked(x, ((best,),), tuple(before), labels=(text,))
