"""What may be given as an image, what transparency shows, and what is refused in one line."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from transformers import AutoConfig, AutoModelForImageClassification

import attrial
from attrial.errors import AttrialError
from attrial.models.vision import VisionClassifier
from attrial.models.vision_encode import opened
from tests import seen

RNG = np.random.default_rng(0)
COLOURED = RNG.integers(0, 256, (8, 8, 4)).astype(np.uint8)


def on_white(image: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The colour c at opacity a over white, by hand: a c + (1 - a) 255."""
    part = image[:, :, 3:] / 255
    return np.asarray(part * image[:, :, :3] + (1 - part) * 255)


def test_what_is_transparent_shows_white(tmp_path: Path) -> None:
    """However it is given; ``convert`` alone shows the colours that nobody sees."""
    Image.fromarray(COLOURED).save(tmp_path / "half.png")
    data = (tmp_path / "half.png").read_bytes()
    for image in (COLOURED, Image.fromarray(COLOURED), tmp_path / "half.png", data):
        found = np.asarray(opened("x", image, 3), np.float64)
        assert np.abs(found - on_white(COLOURED)).max() <= 1
    assert np.abs(COLOURED[:, :, :3] - on_white(COLOURED)).max() > 100
    grey = Image.fromarray(COLOURED[:, :, [0, 3]])  # mode LA
    shown = on_white(COLOURED[:, :, [0, 0, 0, 3]])
    assert np.abs(np.asarray(opened("x", grey, 3), np.float64) - shown).max() <= 1
    assert np.abs(np.asarray(opened("x", grey, 1), np.float64) - shown[:, :, 0]).max() <= 1


def test_a_transparent_colour_of_a_palette_shows_white(tmp_path: Path) -> None:
    image = Image.fromarray(np.array([[0, 1], [1, 0]], np.uint8), mode=None).convert("P")
    image.putpalette([10, 20, 30, 200, 0, 0])
    image.save(tmp_path / "p.gif", transparency=0)
    with Image.open(tmp_path / "p.gif") as read:
        first = read.convert("RGBA")
    found = np.asarray(opened("x", tmp_path / "p.gif", 3), np.float64)
    assert np.asarray(first)[:, :, 3].min() == 0  # some of it is transparent
    assert np.abs(found - on_white(np.asarray(first))).max() <= 1 and found.max() == 255


def test_opaque_images_are_as_they_were_to_the_bit() -> None:
    opaque = COLOURED.copy()
    opaque[:, :, 3] = 255
    assert np.array_equal(np.asarray(opened("x", opaque, 3)), opaque[:, :, :3])


@pytest.mark.parametrize(
    ("image", "said"),
    [
        (None, "not a value of type NoneType"),
        (3, "not a value of type int"),
        (np.zeros((8, 8, 7), np.uint8), r"the array is \(8, 8, 7\) of uint8"),
        (np.zeros((8, 8, 1), np.uint8), r"the array is \(8, 8, 1\) of uint8"),
        (np.zeros((0, 8, 3), np.uint8), r"the array is \(0, 8, 3\) of uint8"),
        (np.zeros(8, np.uint8), r"the array is \(8,\) of uint8"),
    ],
)
def test_what_is_no_image_is_told_in_one_line(image: object, said: str) -> None:
    with pytest.raises(AttrialError, match=f"'x': an image is .*{said}"):
        opened("x", image, 3)  # type: ignore[arg-type]  # what users pass nevertheless


def test_what_is_no_image_is_told_by_the_door() -> None:
    with pytest.raises(AttrialError, match="not a value of type NoneType"):
        attrial.explain_image("planted_shapes", None, method="random")  # type: ignore[arg-type]


def test_a_processor_for_other_channels_is_no_pair() -> None:
    config = AutoConfig.for_model("vit", **seen.SIZES, num_channels=1)
    model = AutoModelForImageClassification.from_config(config).eval()  # type: ignore[no-untyped-call]
    it = VisionClassifier.of(model, seen.processor())
    with pytest.raises(AttrialError, match="3 numbers as image_mean, the model takes images of 1"):
        it.see("x", seen.picture())
