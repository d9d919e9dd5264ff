"""One explanation of an image: the cells of a grid and what each adds to the model's answer."""

from dataclasses import dataclass

from attrial.explanation import Explanation
from attrial.report.picture import html_picture, picture


@dataclass(frozen=True, eq=False)
class ImageExplanation(Explanation):
    """Scores of one image's cells under one method.

    Attributes:
        png: What the model sees of the image, as a file.
        shape: Its height and width in pixels.
        edges: Where rows and columns of cells begin and end, from 0 to 1.
    """

    png: bytes = b""
    shape: tuple[int, int] = (1, 1)
    edges: tuple[tuple[float, ...], tuple[float, ...]] = ((0.0, 1.0), (0.0, 1.0))

    def html(self) -> str:
        """The image by itself and under its coloured cells, as an HTML fragment."""
        shown = picture(
            self.players, self.scores.tolist(), edges=self.edges, png=self.png, shape=self.shape
        )
        return html_picture(shown, caption=self.caption, legend=self.legend)
