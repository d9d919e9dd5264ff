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

    def text(self) -> str:
        """One line a player, highest score first."""
        width = max(map(len, self.players), default=0)
        ranked = np.argsort(-self.scores, kind="stable")
        lines = [f"{self.players[i]:<{width}}  {self.scores[i]:+.4f}" for i in ranked]
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
        if self.probability is not None:
            return f"{self.method} -> {self.target} (p = {self.probability:.3f}; {self.function})"
        return f"{self.method} -> {self.target} (value {self.output or 0.0:.3f})"

    def html(self) -> str:
        """The players coloured by score, as an HTML fragment; text is escaped.

        What pairs add together stands below as a matrix, if the method noted it.
        """
        words = report.html_heatmap(self.players, self.scores.tolist(), caption=self.caption)
        pairs = self.interactions
        return words if pairs is None else words + report.html_matrix(self.players, pairs)

    def _repr_html_(self) -> str:
        return self.html()
