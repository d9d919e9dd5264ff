"""What a language model wrote, or was given to write, and which words speak for each token."""

from dataclasses import dataclass

import numpy as np

from attrial.masks import Floats
from attrial.report.grid import Grid, html_grid, terminal_grid, text_grid
from attrial.report.heatmap import key


@dataclass(frozen=True, eq=False)
class Generation:
    """A source x target matrix: players of the prompt and earlier tokens, for each token written.

    Attributes:
        sources: (S,) the prompt's players, then all tokens of the continuation but the last.
        targets: (T,) the tokens of the continuation.
        scores: (S, T) higher speaks more for the target; NaN where the source came later.
        probabilities: (T,) the model's probability of each token after all that stood before it.
        method: As it was asked for.
        removal: The removal that the method's questions were answered under.
        function: What of each token's probability the scores explain.
        prompt: How many of the sources are the prompt's.
        signed: Whether a negative score speaks against the token.
        given: Whether the continuation was given, and not written by the model.
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    scores: Floats
    probabilities: tuple[float, ...]
    method: str
    removal: str
    function: str
    prompt: int
    signed: bool = True
    given: bool = False

    @property
    def caption(self) -> str:
        """What was explained, by what, in one line."""
        origin = "of the continuation" if self.given else "that the model wrote"
        return (
            f"{self.method}: a column for each token {origin} ({self.function}), a row "
            f"for what stood before it: {self.prompt} players of the prompt, then earlier tokens"
        )

    @property
    def _grid(self) -> Grid:
        return Grid(
            tuple(map(_visible, self.sources)),
            tuple(map(_visible, self.targets)),
            self.scores,
            self.caption,
            key(self.scores.ravel().tolist(), signed=self.signed),
            tuple(f"p={p:.3f}" for p in self.probabilities),
            self.prompt,
        )

    def text(self) -> str:
        """The matrix as plain lines."""
        return text_grid(self._grid)

    def terminal(self) -> object:
        """The matrix for a terminal, as a rich table."""
        return terminal_grid(self._grid)

    def html(self) -> str:
        """The matrix as a coloured HTML table; every word is escaped."""
        return html_grid(self._grid)

    def _repr_html_(self) -> str:
        return self.html()


def matrix(columns: list[Floats]) -> Floats:
    """Scores of ever more sources, one column a target: (S, T), NaN below each column's end.

    >>> matrix([np.array([1.0]), np.array([2.0, 3.0])])
    array([[ 1.,  2.],
           [nan,  3.]])
    """
    out = np.full((max(map(len, columns)), len(columns)), np.nan)
    for i, column in enumerate(columns):
        out[: len(column), i] = column
    return out


def _visible(token: str) -> str:
    """White space that the eye would miss."""
    return token.strip() or repr(token)[1:-1]
