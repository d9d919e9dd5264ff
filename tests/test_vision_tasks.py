"""Tasks of images: folders, columns and boxes; the shapes; runs, explanations and their pages."""

import base64
import re
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import ViTForImageClassification
from typer.testing import CliRunner

import attrial
from attrial import cli, picturing
from attrial.ask import Slope
from attrial.errors import AttrialError
from attrial.masks import Scores
from attrial.models.vision import VisionClassifier
from attrial.models.vision_encode import opened
from attrial.patches import coarse, owners
from attrial.plugin_call import method, metric
from attrial.subject import Subject
from attrial.target import Target
from attrial.task import items, load_task
from attrial.trial import examples_of
from attrial.value import Value, answer
from attrial_tasks import _train_vision as recipe
from tests import seen

SHAPES = Path(str(load_task("planted_shapes").model))


@pytest.fixture(scope="module")
def shapes() -> VisionClassifier:
    return VisionClassifier.load(SHAPES)


def test_shipped_weights_are_small_and_right_on_fresh_images() -> None:
    model = ViTForImageClassification.from_pretrained(SHAPES)
    assert recipe.accuracy(model, *recipe.made(500, 77)) >= 0.99
    assert 2e5 < (SHAPES / "model.safetensors").stat().st_size < 4e5
    assert all(path.stat().st_mode & 0o044 == 0o044 for path in SHAPES.iterdir())


def test_the_processor_makes_the_pixels_that_the_recipe_trained_on(
    shapes: VisionClassifier,
) -> None:
    wanted, _ = recipe.made(3, 5)
    found = items(load_task("planted_shapes"), limit=3, seed=5)
    for item, pixels in zip(found, wanted, strict=True):
        assert item.image is not None
        x = shapes.see(item.id, item.image)
        np.testing.assert_allclose(shapes.encoder.patches.image(x), pixels.numpy(), atol=1e-6)


def test_the_evidence_is_the_one_red_cell(shapes: VisionClassifier) -> None:
    task = load_task("planted_shapes")
    for item, x in zip(items(task), examples_of(task, shapes, items(task)), strict=True):
        assert isinstance(item.image, bytes) and x.truth is not None
        image = np.asarray(Image.open(BytesIO(item.image))).astype(int)
        red = (image[:, :, 0] > 150) & (image[:, :, 1:] < 100).all(axis=2)
        cells = red.reshape(4, 8, 4, 8).sum(axis=(1, 3)).ravel()
        assert x.truth.sum() == 1 and cells[x.truth.argmax()] >= 10
        assert cells[~x.truth].max() <= 1  # noise


def test_without_the_evidence_the_classes_are_level(shapes: VisionClassifier) -> None:
    task = load_task("planted_shapes")
    xs = examples_of(task, shapes, items(task))
    gone = [(Subject(x, "mean", Target(0)), ~x.truth[None]) for x in xs if x.truth is not None]
    outputs = torch.from_numpy(np.concatenate(shapes.keep(gone))).softmax(dim=1)
    assert float(outputs.max(dim=1).values.median()) < 0.5
    assert shapes.predict(xs) == [x.label for x in xs]


@pytest.mark.parametrize("name", ["occlusion", "shapley", "integrated_gradients"])
def test_the_evidence_has_the_most_relevance(shapes: VisionClassifier, name: str) -> None:
    task = load_task("planted_shapes")
    xs = examples_of(task, shapes, items(task, limit=8))
    subjects = [Subject(x, "mean", Target(x.label or 0)) for x in xs]
    scored = answer(Value(shapes), [(s, method(name)(s.example, 0)) for s in subjects])
    scores: list[Scores] = [got.result for got in scored if got.result is not None]
    for judge in (metric("average_precision"), metric("pointing_game")):
        pairs = zip(subjects, scores, strict=True)
        asked = [(s, judge.value(s.example, found, 0)) for s, found in pairs]
        values = [got.result for got in answer(Value(shapes), asked)]
        assert np.mean([v for v in values if v is not None]) >= 0.9


def test_gradients_along_the_path_sum_to_the_change(shapes: VisionClassifier) -> None:
    """Completeness of integrated gradients, by the trapezium rule on 400 steps."""
    (item,) = items(load_task("planted_shapes"), limit=1)
    assert item.image is not None
    x = shapes.see("x", item.image)
    steps = np.repeat(np.linspace(0, 1, 401)[:, None], x.n, axis=1)
    (found,) = shapes.slope([(Subject(x, "mean", Target(0)), Slope(steps, "mean"))])
    along = (found.gradient * found.difference).sum(axis=(1, 2))
    total = (along[1:] + along[:-1]).sum() / 2 / 400
    change = found.values[-1] - found.values[0]
    assert change > 1 and total == pytest.approx(change, rel=1e-2)


def test_the_recipe_trains() -> None:
    quick = recipe.Recipe(steps=3, batch=8, pool=16)
    model = recipe.train(quick)
    assert not model.training and sum(p.numel() for p in model.parameters()) < 100_000
    pixels, _ = recipe.made(6, 0)
    grey = recipe.masked(pixels, np.random.default_rng(0))
    assert torch.equal(grey[3:], pixels[3:]) and not torch.equal(grey[:3], pixels[:3])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two classes of two images each, every one larger than what the model takes."""
    for i, name in enumerate(("cat", "cat", "dog", "dog")):
        (tmp_path / "images" / name).mkdir(parents=True, exist_ok=True)
        drawn = Image.fromarray(seen.picture(i)).resize((40, 20))
        drawn.save(tmp_path / "images" / name / f"{i}.png")
    return tmp_path / "images"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    model = seen.model("vit")
    model.config.id2label = {0: "cat", 1: "dog", 2: "cow"}
    model.save_pretrained(tmp_path / "vit")
    seen.processor().save_pretrained(tmp_path / "vit")
    return tmp_path / "vit"


TASK = """
description = "Animals."
image = "image"
label = "label"
labels = ["cat", "dog", "cow"]
grid = 2
[data]
path = "images"
"""


def test_a_folder_of_images_is_a_task_and_needs_none(folder: Path, saved: Path) -> None:
    path = folder.parent / "animals.toml"
    path.write_text(TASK)
    found = items(load_task(path))
    assert [item.label for item in found] == [0, 1, 0, 1]
    assert [Path(str(item.image)).name for item in found] == ["0.png", "2.png", "1.png", "3.png"]
    task = load_task(path)
    assert (task.asks, task.players, task.removals) == ("image classifier", "patches(2)", ("mean",))
    board = attrial.run([path], ["occlusion"], models=[saved], metrics=["aopc"])
    (own,) = (e for e in board.entries if e.record.spec.label == "occlusion")
    assert own.trials[0].players == ["r1c1", "r1c2", "r2c1", "r2c2"]
    bare = attrial.run([], ["occlusion"], models=[saved], metrics=["aopc"], data=folder, limit=1)
    assert len(bare.entries[0].trials[0].players) == 16


def test_a_column_of_images_with_boxes(saved: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    big = Image.fromarray(seen.picture()).resize((32, 32), 0)
    rows = {"image": [big], "label": [1], "where": [[[0, 0, 9, 8]]]}
    features = datasets.Features(
        image=datasets.Image(),
        label=datasets.Value("int64"),
        where=datasets.List(datasets.List(datasets.Value("int64"))),
    )
    data = datasets.Dataset.from_dict(rows, features=features)
    path = tmp_path / "boxes.toml"
    told = TASK.replace('path = "images"', 'path = "nowhere"').replace("grid = 2\n", "")
    path.write_text(told + '[rationale]\ncolumn = "where"\nsource = "planted"\n')
    task = load_task(path)
    (x,) = examples_of(task, VisionClassifier.load(saved), items(task, data=data))
    assert x.truth is not None  # a box of 9 x 8 of 32 x 32 pixels covers two patches of 16
    assert np.flatnonzero(x.truth).tolist() == [0, 1]


def test_explaining_an_image_makes_a_page_with_the_image(folder: Path, saved: Path) -> None:
    page = folder.parent / "page.html"
    image = folder / "cat" / "0.png"
    told = ["explain", "--model", str(saved), "--image", str(image), "--out", str(page)]
    done = CliRunner().invoke(cli.app, [*told, "--method", "occlusion"])
    assert done.exit_code == 0 and "r4c4" in done.output
    text = page.read_text()
    (source, *_) = re.findall(r"data:image/png;base64,([A-Za-z0-9+/=]+)", text)
    shown = np.asarray(Image.open(BytesIO(base64.b64decode(source))))
    it = VisionClassifier.load(saved)
    wanted = it.encoder.pixels(Image.open(image).convert("RGB")) * 0.25 + 0.5
    np.testing.assert_allclose(shown, wanted.transpose(1, 2, 0) * 255, atol=0.51)
    assert text.count("<title>") == 16 + 1 and "<script" not in text


def test_names_on_a_page_are_escaped(saved: Path) -> None:
    found = picturing.explain_image(saved, seen.picture(), method="occlusion", target="dog")
    evil = replace(found, target="<b>&")
    assert "<b>" not in evil.html() and "&lt;b&gt;&amp;" in evil.html()


def test_wrong_inputs_are_told_in_one_line(folder: Path, saved: Path) -> None:
    it = VisionClassifier.load(saved)
    bad = folder / "no.png"
    bad.write_bytes(b"no image")
    with pytest.raises(AttrialError, match=r"no\.png is no image that can be read"):
        it.see("x", bad)
    with pytest.raises(AttrialError, match=r"'x': an image is \(height, width, 3\) of 0 to 255"):
        it.see("x", np.zeros((4, 4)))  # type: ignore[arg-type]
    with pytest.raises(AttrialError, match=r"evidence \(0, 0, 99, 3\) is no \(left, top"):
        it.see("x", seen.picture(), evidence=[(0, 0, 99, 3)])
    with pytest.raises(AttrialError, match="no players 'words' of an image"):
        it.see("x", seen.picture(), players="words")
    with pytest.raises(AttrialError, match="vit classifies images: it takes no text"):
        attrial.explain(saved, "a text", removal="mean")
    with pytest.raises(AttrialError, match="is no image classifier: give it a text"):
        picturing.explain_image(str(load_task("planted_xor").model), seen.picture())
    bad.unlink()
    with pytest.raises(AttrialError, match="task images shows images; planted_xor takes texts"):
        attrial.run([], ["occlusion"], models=[str(load_task("planted_xor").model)], data=folder)


def test_cells_partition_the_patches() -> None:
    for grid in ((14, 14), (16, 16), (37, 37), (7, 14), (1, 5)):
        cells = coarse(grid, 49)
        sizes = np.bincount(owners(grid, cells))
        assert len(sizes) == cells[0] * cells[1] <= 49 and sizes.sum() == grid[0] * grid[1]
        assert sizes.min() > 0


def test_grey_images_of_sixteen_bits_are_those_of_eight(tmp_path: Path) -> None:
    """What ``convert`` alone makes of them is white above 255."""
    eight = np.random.default_rng(0).integers(0, 256, (32, 32)).astype(np.uint8)
    sixteen = Image.fromarray(eight.astype(np.uint16) * 257)
    sixteen.save(tmp_path / "deep.png")
    wanted = opened("x", Image.fromarray(eight), 3)
    assert np.ptp(np.asarray(wanted)) > 200
    for image in (sixteen, tmp_path / "deep.png", Image.fromarray(eight.astype(np.int32))):
        assert np.array_equal(np.asarray(opened("x", image, 3)), np.asarray(wanted))
    for beyond in (eight.astype(np.int32) * 4, eight.astype(np.float32) - 1):
        with pytest.raises(AttrialError, match=r"pixels go from .* not from 0 to 255"):
            opened("x", Image.fromarray(beyond), 3)
