"""Images of data sets: folders of image files, columns of images, boxes of evidence."""

import io
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from PIL import Image

Boxes = tuple[tuple[int, int, int, int], ...]  # left, top, right, bottom: pixels
SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"})
IMAGE, LABEL = "image", "label"  # columns of a folder of images


def files(folder: Path) -> list[Path]:
    """All image files in a folder and the folders in it, in order of their names."""
    return sorted(p for p in folder.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file())


def folder_rows(folder: Path, limit: int | None) -> list[Mapping[str, object]]:
    """A row an image; what lies in a folder of its own has that folder's name for a label.

    Classes take turns, so that the first rows are of every class.
    """
    by_class: dict[str, list[Path]] = {}
    for path in files(folder):
        by_class.setdefault(path.parent.name if path.parent != folder else "", []).append(path)
    longest = max(map(len, by_class.values()), default=0)
    turns = ((c, ps[i]) for i in range(longest) for c, ps in by_class.items() if i < len(ps))
    return [{IMAGE: str(path), LABEL: name or None} for name, path in islice(turns, limit)]


def image_of(value: object) -> Path | bytes:
    """An image as a data set holds it: a path, bytes, a mapping of both, a PIL image, an array.

    Raises:
        ValueError: If it is none of these.
    """
    if isinstance(value, Mapping):
        value = value.get("bytes") or value.get("path")
    if isinstance(value, str | Path) and str(value):
        return Path(value)
    if isinstance(value, bytes):
        return value
    if isinstance(value, np.ndarray) and value.dtype == np.uint8:
        value = Image.fromarray(value)
    if isinstance(value, Image.Image):
        return png(value)
    raise ValueError(f"the image is a {type(value).__name__}, neither file nor image")


def png(image: Image.Image) -> bytes:
    """An image as a PNG file's content."""
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def boxes_of(value: object) -> Boxes | None:
    """Boxes [left, top, right, bottom] in pixels; None where the cell is empty.

    Raises:
        ValueError: If they are of another form.
    """
    if value is None:
        return None
    try:
        found = [[int(side) for side in box] for box in _several(value)]
    except (TypeError, ValueError):
        raise ValueError(f"evidence {value!r} is no list of [left, top, right, bottom]") from None
    if any(len(box) != 4 for box in found):
        raise ValueError(f"evidence {value!r} is no list of [left, top, right, bottom]")
    return tuple((a, b, c, d) for a, b, c, d in found)


def _several(value: object) -> Sequence[Sequence[int | float]]:
    """A list of boxes, or a single one."""
    plain = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(plain, Sequence) or isinstance(plain, str):
        raise TypeError(value)
    return [plain] if plain and isinstance(plain[0], int | float) else plain
