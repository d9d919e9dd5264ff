"""Images of one red shape among shapes of other colours: its form decides. Evidence: its cell."""

import io
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from attrial.task import Item

Drawn = NDArray[np.bool_]  # (side, side) which pixels a shape covers
CELL, CELLS = 8, 4  # pixels of a cell's side, cells of an image's
LABELS = ("circle", "square", "triangle", "cross")
RED, OTHERS = (210, 40, 40), ((40, 60, 210), (40, 170, 60), (200, 180, 40))


def items(*, count: int, seed: int) -> list[Item]:
    """The first ``count`` items of a seed; the classes in turn."""
    return [_item(index, np.random.default_rng([seed, index])) for index in range(count)]


def _item(index: int, rng: np.random.Generator) -> Item:
    image = 128 + rng.normal(0, 12, (CELL * CELLS, CELL * CELLS, 3))
    places = rng.permutation(CELLS * CELLS)[: 1 + int(rng.integers(3, 8))]
    label = index % len(LABELS)
    _paint(image, int(places[0]), LABELS[label], RED, rng)
    for place in places[1:]:
        other, colour = (int(rng.integers(len(of))) for of in (LABELS, OTHERS))
        _paint(image, int(place), LABELS[other], OTHERS[colour], rng)
    left, top = _corner(int(places[0]))
    box = (left, top, left + CELL, top + CELL)
    return Item(str(index), (), label, image=_png(image), boxes=(box,))


def _png(image: NDArray[np.float64]) -> bytes:
    """The image as a file."""
    file = io.BytesIO()
    Image.fromarray(image.round().clip(0, 255).astype(np.uint8)).save(file, "PNG")
    return file.getvalue()


def _corner(place: int) -> tuple[int, int]:
    """Left and top pixel of a cell."""
    return place % CELLS * CELL, place // CELLS * CELL


def _paint(
    image: NDArray[np.float64],
    place: int,
    shape: str,
    colour: tuple[int, int, int],
    rng: np.random.Generator,
) -> None:
    """Draw a shape of 6 or 7 pixels somewhere in a cell, in place."""
    side = int(rng.integers(6, 8))
    left, top = (corner + int(rng.integers(CELL - side + 1)) for corner in _corner(place))
    tint = np.array(colour) + rng.normal(0, 12, 3)
    image[top : top + side, left : left + side][SHAPES[shape](side)] = tint


def _circle(side: int) -> Drawn:
    across = np.arange(side) - (side - 1) / 2
    return np.asarray(across[:, None] ** 2 + across[None, :] ** 2 <= (side / 2) ** 2 - 0.5)


def _square(side: int) -> Drawn:
    return np.ones((side, side), bool)


def _triangle(side: int) -> Drawn:
    """Its tip is at the top."""
    across = np.abs(np.arange(side) - (side - 1) / 2)
    return np.asarray(across[None, :] <= (np.arange(side)[:, None] + 1) / 2)


def _cross(side: int) -> Drawn:
    arm = np.abs(np.arange(side) - (side - 1) / 2) < 1.1
    return np.asarray(arm[:, None] | arm[None, :])


SHAPES: Mapping[str, Callable[[int], Drawn]] = {
    "circle": _circle,
    "square": _square,
    "triangle": _triangle,
    "cross": _cross,
}
