"""What language models of both kinds share: their labels, and what they show."""

from collections.abc import Sequence
from dataclasses import dataclass

from attrial.models.growing import shown
from attrial.models.text import TextClassifier


@dataclass(frozen=True, eq=False)
class LanguageModel(TextClassifier):
    """A model that continues texts, whose classes are the continuations asked about.

    Build one with ``load`` (a folder or a name on the Hub) or ``of`` (loaded objects). Raw outputs
    are log-probabilities, as ``Continuing`` says.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        """None: each example brings its own."""
        return ()

    def shown(self, said: Sequence[int]) -> tuple[str, ...]:
        """What each token adds to the text, for the eye alone."""
        return shown(self.encoder.tokenizer, said)
