"""Cutting an image into players: patches, merged to cells of a coarser grid where they are many."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from transformers.image_processing_utils import BaseImageProcessor

from attrial.errors import AttrialError
from attrial.example import FIXED, Example
from attrial.masks import Bools
from attrial.patches import Patches, Pixels, coarse, names, owners

Picture = str | Path | bytes | Image.Image | NDArray[np.uint8]
Box = tuple[int, int, int, int]  # left, top, right, bottom: pixels of the image as it is given
BOX = 4  # PIL's number of averaging over areas: nothing is lost, and nothing blends in
CELLS = 49  # players of an image, unless a grid is asked for
GRID = re.compile(r"patches(?:\((\d+)\))?")


@dataclass(frozen=True, eq=False)
class ImageEncoder:
    """An image processor, and where the patches of its images are kept."""

    processor: BaseImageProcessor
    patches: Patches

    def encode(
        self,
        id: str,
        image: Picture,
        *,
        players: str = "patches",
        evidence: Sequence[Box] | None = None,
        label: int | None = None,
    ) -> Example:
        """An example whose players are the cells of a grid.

        Args:
            id: Name within its task.
            image: A file or its bytes, a PIL image or an array (height, width[, channels])
                of 0 to 255. What is transparent shows white.
            players: ``patches`` for cells of whole patches, at most 49; ``patches(7)`` for a grid
                of at most 7 x 7.
            evidence: Boxes (left, top, right, bottom) in pixels of the image as it is given; cells
                that overlap one are evidence.
            label: The gold class.

        Raises:
            AttrialError: If the image can't be read, or players are no patches.
        """
        cells = coarse(self.patches.grid, _most(players))
        picture = opened(id, image, self.patches.shape[0])
        _check_size(id, picture, self.patches.grid)
        owner = owners(self.patches.grid, cells)
        return Example(
            id=id,
            players=names(cells),
            ids=self.patches.add(self.pixels(picture)),
            types=np.zeros(self.patches.prefix + self.patches.count, np.int64),
            owner=np.concatenate([np.full(self.patches.prefix, FIXED), owner]),
            truth=None
            if evidence is None
            else self._truth(id, picture, evidence, owner, len(names(cells))),
            label=label,
        )

    def pixels(self, picture: Image.Image, *, raw: bool = False) -> Pixels:
        """What the model takes of an image (c, height, width); ``raw`` leaves 0 to 255 as they are.

        Raises:
            AttrialError: If the processor makes another size than the model's, or has means for
                another number of channels.
        """
        untouched: dict[str, Any] = (
            {"do_normalize": False, "do_rescale": False, "resample": BOX} if raw else {}
        )
        self._check_normalisation()
        found = self.processor(picture, return_tensors="np", **untouched)["pixel_values"][0]
        if found.shape != self.patches.size:
            raise AttrialError(
                f"the image processor makes {' x '.join(map(str, found.shape))} of an image, "
                f"the model takes {' x '.join(map(str, self.patches.size))}"
            )
        return np.asarray(found, np.float32)

    def shown(self, x: Example) -> NDArray[np.uint8]:
        """What the model sees of an example as an image (height, width, 3) of 0 to 255."""
        image = self.patches.image(x)
        mean, spread = (
            np.broadcast_to(np.asarray(value, np.float64), (len(image),))[:, None, None]
            for value in self._normalisation
        )
        found = ((image * spread + mean) * 255).round().clip(0, 255).astype(np.uint8)
        return np.broadcast_to(found.transpose(1, 2, 0), (*found.shape[1:], 3)).copy()

    @property
    def _normalisation(self) -> tuple[object, object]:
        if not getattr(self.processor, "do_normalize", False):
            return 0.0, 1.0
        return vars(self.processor)["image_mean"], vars(self.processor)["image_std"]

    def _check_normalisation(self) -> None:
        channels = self.patches.shape[0]
        for name, value in zip(("image_mean", "image_std"), self._normalisation, strict=True):
            if np.size(np.asarray(value)) not in (1, channels):
                raise AttrialError(
                    f"the image processor has {np.size(np.asarray(value))} numbers as {name}, the "
                    f"model takes images of {channels}: not a pair; {name} must have {channels}"
                )

    def _truth(
        self, id: str, picture: Image.Image, boxes: Sequence[Box], owner: NDArray[np.int64], n: int
    ) -> Bools:
        """Cells that show anything of a box, once the image was resized and cropped."""
        truth = np.zeros(n, bool)
        for box in boxes:
            _check_box(id, box, picture)
            marked = np.zeros((picture.height, picture.width, 3), np.uint8)
            marked[box[1] : box[3], box[0] : box[2]] = 255
            image = Image.fromarray(marked if self.patches.shape[0] == 3 else marked[:, :, 0])
            truth[owner[self._marked(self.pixels(image, raw=True))]] = True
        return truth

    def _marked(self, image: Pixels) -> Bools:
        """Patches (count,) in which any pixel isn't zero."""
        (c, h, w), (rows, columns) = self.patches.shape, self.patches.grid
        cut = image.reshape(c, rows, h, columns, w)
        return np.asarray((cut != 0).any(axis=(0, 2, 4)).ravel())


def _most(players: str) -> int:
    found = GRID.fullmatch(players)
    if found is None:
        raise AttrialError(
            f"no players {players!r} of an image; 'patches' or 'patches(7)' are some"
        )
    if found[1] is not None and int(found[1]) < 1:
        raise AttrialError(f"players {players!r}: a grid has 1 cell a side or more")
    return CELLS if found[1] is None else int(found[1]) ** 2


def _check_size(id: str, picture: Image.Image, grid: tuple[int, int]) -> None:
    """Refuse images in which patches would share a pixel: nothing could tell them apart."""
    if picture.height < grid[0] or picture.width < grid[1]:
        raise AttrialError(
            f"example {id!r}: the image has {picture.width} x {picture.height} pixels, fewer than "
            f"the {grid[1]} x {grid[0]} patches of the model"
        )


def _check_box(id: str, box: Box, picture: Image.Image) -> None:
    left, top, right, bottom = box
    if not (0 <= left < right <= picture.width and 0 <= top < bottom <= picture.height):
        raise AttrialError(
            f"example {id!r}: evidence {box} is no (left, top, right, bottom) within the image of "
            f"{picture.width} x {picture.height}"
        )


def opened(id: str, image: Picture, channels: int) -> Image.Image:
    """An image in memory, with as many channels as the model takes; it lies on white.

    Raises:
        AttrialError: If it is no image, can't be read, or its numbers have no known end.
    """
    mode = "L" if channels == 1 else "RGB"
    if isinstance(image, Image.Image):
        return _opaque(_eight_bits(id, image)).convert(mode)
    if isinstance(image, np.ndarray):
        return _opaque(_of_array(id, image)).convert(mode)
    if not isinstance(image, str | Path | bytes):
        raise AttrialError(
            f"example {id!r}: an image is a file or its bytes, a PIL image or an array, not a "
            f"value of type {type(image).__name__}"
        )
    try:
        with Image.open(io.BytesIO(image) if isinstance(image, bytes) else image) as found:
            return _opaque(_eight_bits(id, found)).convert(mode)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        named = "its data" if isinstance(image, bytes) else str(image)
        why = getattr(error, "strerror", None) or error
        raise AttrialError(f"example {id!r}: {named} is no image that can be read: {why}") from None


def _of_array(id: str, image: NDArray[np.uint8]) -> Image.Image:
    """A grey or coloured array as an image; transparency may be its last channel."""
    known = image.ndim == 2 or (image.ndim == 3 and image.shape[-1] in (2, 3, 4))
    if image.dtype != np.uint8 or not known or 0 in image.shape:
        raise AttrialError(
            f"example {id!r}: an image is (height, width, 3) of 0 to 255 (uint8), or (height, "
            f"width) in grey; the array is {image.shape} of {image.dtype}"
        )
    return Image.fromarray(image)


def _opaque(image: Image.Image) -> Image.Image:
    """What is transparent shows white: ``convert`` alone shows what nobody sees, often black."""
    if not image.has_transparency_data:
        return image
    drawn = image.convert("RGBA")
    if np.asarray(drawn.getchannel("A")).min() == 255:  # as it stands, to the bit
        return image
    return Image.alpha_composite(Image.new("RGBA", drawn.size, "white"), drawn)


def _eight_bits(id: str, image: Image.Image) -> Image.Image:
    """Sixteen bits a pixel become eight: by itself ``convert`` makes all above 255 white."""
    if image.mode.startswith("I;16"):
        return Image.fromarray((np.asarray(image) / 257).round().astype(np.uint8))
    if image.mode in ("I", "F"):
        low, high = np.asarray(image).min(), np.asarray(image).max()
        if low < 0 or high > 255:
            raise AttrialError(
                f"example {id!r}: the image's pixels go from {low} to {high}, not from 0 to 255"
            )
    return image
