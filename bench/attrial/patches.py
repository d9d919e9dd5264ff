"""Images as rows of patches, kept by their content: an id says all that there is in a patch."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from attrial.example import Example
from attrial.masks import Ints
from attrial.removal import Vocabulary

Pixels = NDArray[np.float32]  # as the model takes them: normalised
PREFIX, MEAN = 1, 2  # ids of what stands before the patches, and of a patch of the mean colour
FIRST = 1 << 32  # ids of contents begin here
SPREAD = 0.5  # of the blur, in sides of a patch


class Known(dict[int, Pixels]):
    """Pixels (c, h, w) of patches by their ids."""


# Models with patches of one shape share what they know, so that examples of one serve another: an
# id says all of a patch, whoever saw it first. It goes when the last of these models does.
_KNOWN: WeakValueDictionary[tuple[int, int, int], Known] = WeakValueDictionary()


@dataclass(frozen=True, eq=False)
class Patches:
    """The patches of all images that were seen, each kept once.

    Attributes:
        shape: (c, h, w) of one patch: channels and pixels.
        grid: (rows, columns) of patches in an image.
        prefix: How many positions stand before the patches: class token, registers.
        known: The patches.
        soft: Ids of blurred images, by the digest of the example.
    """

    shape: tuple[int, int, int]
    grid: tuple[int, int]
    prefix: int
    known: Known
    soft: dict[str, Ints] = field(default_factory=dict)

    @classmethod
    def of(cls, shape: tuple[int, int, int], grid: tuple[int, int], prefix: int) -> Self:
        """Patches of a model that knows what others of its kind do."""
        return cls(shape, grid, prefix, _KNOWN.setdefault(shape, Known()))

    def __deepcopy__(self, memo: object) -> Self:
        """Itself: what an id stands for is the same for every copy of a model."""
        return self

    @property
    def count(self) -> int:
        """Patches in an image."""
        return self.grid[0] * self.grid[1]

    @property
    def size(self) -> tuple[int, int, int]:
        """(c, height, width) of an image."""
        (c, h, w), (rows, columns) = self.shape, self.grid
        return c, rows * h, columns * w

    def add(self, image: Pixels) -> Ints:
        """Keep an image (c, height, width); ids (t,) of its positions, the prefix's first."""
        (c, h, w), (rows, columns) = self.shape, self.grid
        cut = image.reshape(c, rows, h, columns, w).transpose(1, 3, 0, 2, 4).reshape(-1, c, h, w)
        ids = [_id(patch) for patch in cut]
        self.known.update(zip(ids, cut.astype(np.float32), strict=True))
        return np.array([PREFIX] * self.prefix + ids, np.int64)

    def images(self, ids: Ints, positions: Ints) -> Pixels:
        """Images (k, c, height, width) of rows of ids at their positions, both (k, w).

        The mean colour, which is zero, is where no patch is.
        """
        (c, h, w), (rows, columns) = self.shape, self.grid
        out = np.zeros((len(ids), self.count, c, h, w), np.float32)
        row, column = np.nonzero(ids >= FIRST)
        if len(row):
            known = np.stack([self.known[i] for i in ids[row, column].tolist()])
            out[row, positions[row, column] - self.prefix] = known
        laid = out.reshape(-1, rows, columns, c, h, w).transpose(0, 3, 1, 4, 2, 5)
        found: Pixels = np.ascontiguousarray(laid.reshape(len(ids), *self.size))
        return found

    def image(self, x: Example) -> Pixels:
        """The image (c, height, width) of an example."""
        found: Pixels = self.images(x.ids[None], np.arange(len(x.ids))[None])[0]
        return found

    def blurred(self, x: Example) -> Ints:
        """Ids (t,) of the example's image after a Gaussian blur of half a patch's side."""
        if x.digest not in self.soft:
            spread = [0.0, *(SPREAD * side for side in self.shape[1:])]
            soft = gaussian_filter(self.image(x), spread, mode="nearest")
            self.soft[x.digest] = self.add(np.asarray(soft, np.float32))
        return self.soft[x.digest]


def _id(patch: Pixels) -> int:
    """63 bits of a hash of what is in a patch."""
    found = hashlib.sha256(np.ascontiguousarray(patch, np.float32).tobytes()).digest()
    return int.from_bytes(found[:8], "little") >> 1 | FIRST


@dataclass(frozen=True)
class ImageVocabulary(Vocabulary):
    """What can stand for removed patches; there are no tokens, and nothing closes up.

    Attributes:
        patches: Of the model's images.
        drops: Whether patches can be left out, the others staying where they are.
    """

    patches: Patches | None = None
    drops: bool = False

    @property
    def has(self) -> frozenset[str]:
        """What removals may need: ``patches``, ``embeddings``, ``hidden positions``, ``filler``."""
        filler = frozenset() if self.filler is None else frozenset({"filler"})
        hidden = frozenset({"hidden positions"} if self.drops else ())
        return filler | hidden | {"patches", "embeddings"}


def coarse(grid: tuple[int, int], most: int) -> tuple[int, int]:
    """Rows and columns of a grid of at most so many cells: patches merged in blocks.

    The finest with equal blocks, unless it has less than a quarter of the cells that may be; then
    blocks differ by one patch at most.

    >>> coarse((14, 14), 49), coarse((4, 4), 49), coarse((16, 16), 49), coarse((37, 37), 49)
    ((7, 7), (4, 4), (4, 4), (7, 7))
    """
    sides = [s for s in range(1, max(grid) + 1) if grid[0] % s == grid[1] % s == 0]
    equal = [(grid[0] // s, grid[1] // s) for s in sides if grid[0] * grid[1] <= most * s * s]
    if equal and 4 * equal[0][0] * equal[0][1] >= min(most, grid[0] * grid[1]):
        return equal[0]
    side = max(1.0, (grid[0] * grid[1] / most) ** 0.5)
    rows, columns = (max(1, int(size / side + 1e-9)) for size in grid)
    return rows, columns


def owners(grid: tuple[int, int], cells: tuple[int, int]) -> Ints:
    """The cell (from 0, row by row) that each patch of a grid belongs to: (rows * columns,).

    >>> owners((2, 4), (1, 2)).tolist()
    [0, 0, 1, 1, 0, 0, 1, 1]
    """
    down, across = (np.arange(size) * cut // size for size, cut in zip(grid, cells, strict=True))
    return np.asarray((down[:, None] * cells[1] + across[None, :]).ravel(), np.int64)


def edges(
    grid: tuple[int, int], cells: tuple[int, int]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Where the rows and the columns of cells begin and end, as shares of the image.

    >>> edges((1, 4), (1, 2))
    ((0.0, 1.0), (0.0, 0.5, 1.0))
    """
    rows, columns = (
        tuple(-(-i * size // cut) / size for i in range(cut + 1))
        for size, cut in zip(grid, cells, strict=True)
    )
    return rows, columns


def names(cells: tuple[int, int]) -> tuple[str, ...]:
    """What the cells of a grid are called: row and column, from 1.

    >>> names((1, 2))
    ('r1c1', 'r1c2')
    """
    return tuple(f"r{r + 1}c{c + 1}" for r in range(cells[0]) for c in range(cells[1]))


def grid_of(players: Sequence[str]) -> tuple[int, int] | None:
    """Rows and columns of the grid that players are the cells of; None where they are words.

    >>> grid_of(["r1c1", "r1c2"]), grid_of(["so", "good"]), grid_of([])
    ((1, 2), None, None)
    """
    last = players[-1][1:].split("c") if players else []
    if len(last) != 2 or not all(part.isdecimal() for part in last):
        return None
    cells = int(last[0]), int(last[1])
    fits = cells[0] * cells[1] == len(players)
    return cells if fits and tuple(players) == names(cells) else None
