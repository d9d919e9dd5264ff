"""Causal language models behind the questions: how likely continuations of a prompt are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from transformers import AutoModelForCausalLM, PreTrainedTokenizerBase

from attrial.errors import AttrialError
from attrial.example import Example
from attrial.masks import Masks
from attrial.models import pairing
from attrial.models.continuing import Continuing
from attrial.models.forward import Forward
from attrial.models.growing import ends, grown
from attrial.models.language import LanguageModel
from attrial.models.loading import CAUSAL
from attrial.models.prompts import Prompts
from attrial.models.remembering import remembering
from attrial.models.verbatim import positions
from attrial.record import ModelSpec
from attrial.removal import Rows
from attrial.value import Subject


@dataclass(frozen=True, eq=False)
class CausalModel(LanguageModel):
    """A causal language model with its tokenizer, whose classes are the continuations asked about.

    Build one with ``CausalModel.load`` (a folder or a name on the Hub) or ``CausalModel.of``
    (loaded objects). Raw outputs are log-probabilities, as ``Continuing`` says.
    """

    KIND = CAUSAL
    AUTO = AutoModelForCausalLM
    FORWARDS = (Continuing,)

    @classmethod
    def paired(cls, forward: Forward, tokenizer: PreTrainedTokenizerBase, spec: ModelSpec) -> Self:
        """Put a model behind the questions, with an encoder of its texts."""
        if not forward.causal:
            raise AttrialError(
                f"{spec.name} is no causal language model: its tokens see those after them"
            )
        assert isinstance(forward, Continuing)
        forward = remembering(forward)
        room = pairing.limit(forward, tokenizer)
        encoder = Prompts(tokenizer, room, False, pairing.anchor(tokenizer), True)
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
        """Cut a prompt into players, and ask about its continuations; the first is explained.

        Without any, the one that is asked about is the token that the model holds likeliest.

        Raises:
            AttrialError: What ``Encoder.encode`` and ``Prompts.ask`` say; for a prefix; for a
                continuation that leaves no room for the prompt.
        """
        if prefix:
            raise AttrialError(f"{self.spec.name} has no decoder of its own that a prefix goes to")
        encoder = self.prompts
        longest = self._checked(id, _longest(encoder, options))
        room = replace(encoder, limit=encoder.limit - longest + 1)
        x = room.encode(
            id, texts, players=players, evidence=evidence, label=label, spans=spans, fixed=fixed
        )
        return encoder.ask(x, options, fixed) if options else self._own(x)

    def _checked(self, id: str, longest: int) -> int:
        """How many tokens the longest continuation has, where it leaves room for a prompt's own."""
        most = self.limit - self.prompts.template
        if longest > max(1, most):
            raise AttrialError(
                f"example {id!r}: the continuation has {longest} tokens; beside one of the prompt, "
                f"{self.spec.name} takes at most {most}"
            )
        return longest

    def chatting(self) -> "CausalModel":
        """The same model, whose texts are what a user says in a chat: its template is put around.

        Raises:
            AttrialError: If its tokenizer has no such template.
        """
        if not self.prompts.tokenizer.chat_template:
            raise AttrialError(f"{self.spec.name} has no chat_template: it can't chat")
        return replace(self, encoder=replace(self.prompts, chat=True))

    def generate(self, x: Example, count: int) -> tuple[int, ...]:
        """The model's own greedy continuation: at most ``count`` tokens, its end among them.

        Raises:
            AttrialError: If prompt and continuation are longer than the model takes.
        """
        if len(x.ids) + count - 1 > self.limit:
            raise AttrialError(
                f"{len(x.ids)} tokens and {count} new ones are more than the {self.limit} that "
                f"{self.spec.name} takes"
            )
        said: list[int] = []
        while len(said) < count and not (said and said[-1] in self.ends):
            said += self.predict([self.grown(x, said)])
        return tuple(said)

    @property
    def ends(self) -> frozenset[int]:
        """Tokens that end what is generated."""
        return ends(self.forward.model)

    def grown(self, x: Example, said: Sequence[int]) -> Example:
        """The prompt followed by tokens that were generated, each a player; nothing is asked."""
        return grown(x, said, self.shown(said))

    @property
    def prompts(self) -> Prompts:
        """Its encoder of prompts."""
        assert isinstance(self.encoder, Prompts)
        return self.encoder

    def _rows(self, subject: Subject, masks: Masks) -> Rows:
        """Rows that know of the full input, with which they may share what they begin with."""
        return replace(super()._rows(subject, masks), full=subject.example.ids)

    def _own(self, x: Example) -> Example:
        (best,) = self.predict([x])
        text = str(self.encoder.tokenizer.decode([best]))
        return replace(x, options=((best,),), labels=(text,), explained=0)


def _longest(encoder: Prompts, options: Sequence[str]) -> int:
    """Tokens of the longest continuation."""
    return max((len(positions(encoder.tokenizer, [o], template=False)) for o in options), default=1)
