"""One explanation: the players of a text and what each adds to the model's answer."""

from dataclasses import dataclass

import numpy as np

from attrial import interactions, report
from attrial.masks import Floats, Scores


@dataclass(frozen=True, eq=False)
class Explanation:
    """Scores of one text's players under one method.

    Attributes:
        players: (n,) words or tokens as they stand in the text.
        scores: (n,) higher speaks more for the target.
        target: Label of the class that is explained.
        probability: The model's probability of that class on the full text; None of a model that
            gives one number.
        method: As it was asked for.
        removal: The removal that the method's questions were answered under.
        function: What of the target the scores explain (``log_odds``: nats); ``value`` of a model
            that gives one number.
        notes: What the method noted (completeness gap, steps).
        truncated: Words that the model could not take.
        output: The model's raw output for the target on the full text.
        signed: Whether a negative score speaks against the target.
        class_blind: Whether the scores are the same for every target.
        foil: The continuation that the target is set against; None without one.
        texts: The text, or both of a pair; empty where players stand in none.
        spans: (n,) start and end characters of each player in its text.
    """

    players: tuple[str, ...]
    scores: Scores
    target: str
    probability: float | None
    method: str
    removal: str
    function: str
    notes: dict[str, float | list[float]]
    truncated: int = 0
    output: float | None = None
    signed: bool = True
    class_blind: bool = False
    foil: str | None = None
    texts: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()

    def text(self) -> str:
        """One line a player, highest score first."""
        width = max(map(len, self.players), default=0)
        ranked = np.argsort(-self.scores, kind="stable")
        places = report.decimals(self.scores, 4)
        lines = [f"{self.players[i]:<{width}}  {self.scores[i]:+.{places}f}" for i in ranked]
        pairs = self.interactions
        matrix = [] if pairs is None else ["", report.text_matrix(self.players, pairs)]
        return "\n".join([self.caption, *lines, *matrix])

    @property
    def interactions(self) -> Floats | None:
        """The (n, n) matrix of what pairs add together, if the method noted one."""
        return interactions.read(self.notes, len(self.players))

    @property
    def caption(self) -> str:
        """What was explained, by what, in one line."""
        blind = " (the same scores for every class)" if self.class_blind else ""
        asked = f"{self.method}{blind} -> {quoted(self.target)}"
        if self.probability is None:
            return f"{asked} (value {self.output or 0.0:.3f})"
        p, told = f"p = {self.probability:.3f}", "" if self.class_blind else f"; {self.function}"
        if self.foil is None:
            return f"{asked} ({p}{told})"
        return f"{asked} rather than {quoted(self.foil)} ({p} of the two{told})"

    @property
    def legend(self) -> tuple[report.Word, ...]:
        """What the strongest colours stand for."""
        return report.key(self.scores.tolist(), signed=self.signed)

    def html(self) -> str:
        """The players coloured by score, as an HTML fragment; text is escaped.

        What pairs add together stands below as a matrix, if the method noted it.
        """
        words = report.html_heatmap(
            self.players, self.scores.tolist(), text=self.texts, spans=self.spans,
            caption=self.caption, legend=self.legend,
        )  # fmt: skip
        pairs = self.interactions
        return words if pairs is None else words + report.html_matrix(self.players, pairs)

    def _repr_html_(self) -> str:
        return self.html()


def quoted(label: str) -> str:
    """A label as it is typed: in quotes where white space would be missed.

    >>> print(quoted("bird"), quoted(" are"))
    bird ' are'
    """
    return label if label and label == label.strip() else repr(label)
