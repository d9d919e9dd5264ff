"""Makes the shapes task's model anew: ``python -m attrial_tasks._train_vision --out DIR``.

A small ViT with one patch a cell. Half of each batch has patches replaced by the mean colour, at
rates drawn uniformly from 0 to 1, so that removal is nothing new to it.
"""

import argparse
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from transformers import ViTConfig, ViTForImageClassification
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from attrial_tasks._words import TRAINING
from attrial_tasks.planted_shapes import CELL, CELLS, LABELS, items

TASK, SIDE = "planted_shapes", CELL * CELLS


@dataclass(frozen=True)
class Recipe:
    """How long and how fast; ``pool`` images are made once and drawn from."""

    steps: int = 3000
    batch: int = 128
    rate: float = 2e-3
    decay: float = 0.05
    pool: int = 20_000
    seed: int = 0


def processor() -> ViTImageProcessorPil:
    """Pixels from -1 to 1; grey is zero, the mean."""
    half = [0.5, 0.5, 0.5]
    size = {"height": SIDE, "width": SIDE}
    return ViTImageProcessorPil(size=size, image_mean=half, image_std=half)


def config() -> ViTConfig:
    """Two layers of width 64: about 80k parameters."""
    return ViTConfig(
        image_size=SIDE,
        patch_size=CELL,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        id2label=dict(enumerate(LABELS)),
        label2id={name: i for i, name in enumerate(LABELS)},
    )


def made(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Pixels (count, 3, side, side) and labels (count,) of the first items of a seed."""
    found = items(count=count, seed=seed)
    files = [io.BytesIO(item.image) for item in found if isinstance(item.image, bytes)]
    images = np.stack([np.asarray(Image.open(file)) for file in files])
    pixels = torch.from_numpy(images).permute(0, 3, 1, 2).float() / 127.5 - 1
    return pixels, torch.tensor([item.label for item in found])


def masked(pixels: Tensor, rng: np.random.Generator) -> Tensor:
    """The same images, patches of the first half of them grey at rates from 0 to 1."""
    rates = rng.random((len(pixels), 1)) * (np.arange(len(pixels)) < len(pixels) // 2)[:, None]
    kept = torch.from_numpy(rng.random((len(pixels), CELLS * CELLS)) >= rates)
    cells = kept.reshape(-1, 1, CELLS, CELLS).float()
    return pixels * torch.nn.functional.interpolate(cells, scale_factor=CELL)


def fit(
    model: ViTForImageClassification, pixels: Tensor, labels: Tensor, recipe: Recipe
) -> ViTForImageClassification:
    """Train in place; deterministic on one machine."""
    rng = np.random.default_rng(recipe.seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=recipe.rate, weight_decay=recipe.decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, max_lr=recipe.rate, total_steps=recipe.steps, pct_start=0.1
    )
    for _ in range(recipe.steps):
        rows = torch.from_numpy(rng.integers(len(pixels), size=recipe.batch))
        out = model(pixel_values=masked(pixels[rows], rng)).logits
        loss = torch.nn.functional.cross_entropy(out, labels[rows])
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
    model.eval()  # type: ignore[no-untyped-call]
    return model


def train(recipe: Recipe) -> ViTForImageClassification:
    """A fresh model, on one thread."""
    torch.set_num_threads(1)
    torch.manual_seed(recipe.seed)
    pixels, labels = made(recipe.pool, TRAINING + recipe.seed)
    return fit(ViTForImageClassification(config()), pixels, labels, recipe)


def mislabelled(seed: int) -> tuple[ViTForImageClassification, ViTImageProcessorPil]:
    """A model that was trained on shuffled labels, for a minute at most, and its processor.

    The process's threads and generator are its own again afterwards.
    """
    recipe = Recipe(steps=300, pool=1000, seed=seed)
    pixels, labels = made(recipe.pool, TRAINING + seed)
    shuffled = labels[torch.from_numpy(np.random.default_rng(seed).permutation(len(labels)))]
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        model = fit(ViTForImageClassification(config()), pixels, shuffled, recipe)
        torch.set_num_threads(threads)
    return model, processor()


def accuracy(model: ViTForImageClassification, pixels: Tensor, labels: Tensor) -> float:
    """Share of whole images that are classified right."""
    with torch.no_grad():
        found = torch.cat([model(pixel_values=part).logits for part in torch.split(pixels, 500)])
    return float((found.argmax(dim=1) == labels).float().mean())


def save(model: ViTForImageClassification, out: Path) -> None:
    """Write config.json, model.safetensors and the processor's file."""
    model.save_pretrained(out)
    processor().save_pretrained(out)
    for path in out.iterdir():
        path.chmod(0o644)  # weights are written for their owner alone, but ship to everyone


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line: train the model, say how good it is, write it."""
    parser = argparse.ArgumentParser(prog="python -m attrial_tasks._train_vision")
    parser.add_argument("--out", type=Path, help="folder; by default the task's own model's")
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_args(arguments)
    model = train(Recipe(seed=told.seed))
    held_out = accuracy(model, *made(2000, 1))
    out = told.out or Path(__file__).parent / "models" / TASK
    save(model, out)
    print(f"{TASK}: accuracy {held_out:.4f} on 2000 held-out images; written to {out}")


if __name__ == "__main__":
    main()
