"""One forward of an image classifier, and what it can do, found out by trying."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from attrial.batching import evenly
from attrial.errors import AttrialError, NotApplicable
from attrial.masks import Bools, Floats, Ints
from attrial.models.forward import Forward
from attrial.models.guard import guarded
from attrial.models.switch import can_switch
from attrial.models.tap import capture
from attrial.models.threads import suited
from attrial.models.vision_model import Patched, first, watched
from attrial.patches import Patches, Pixels
from attrial.removal import Rows, closed_up, stack

TAKES = frozenset({"input_ids", "attention_mask", "position_ids"})
PROBED = 4  # images on which leaving patches out is tried


@dataclass(frozen=True, eq=False)
class VisionForward(Forward):
    """A forward without padding: rows of one length run together.

    Attributes:
        square: Whether attention goes from every position to every other, in every layer.
    """

    square: bool = False

    @property
    def patched(self) -> Patched:
        """The model."""
        assert isinstance(self.model, Patched)
        return self.model

    def outputs(self, parts: Sequence[Rows]) -> Floats:
        """Raw outputs (k, classes) of all rows, in float64; call it under the guard."""
        parts = [self._dropped(p) for p in parts]
        rows = stack(parts, width=max(int(p.lengths.max()) for p in parts), pad=self.pad)
        out = np.empty((len(rows.lengths), self.classes))
        with torch.inference_mode():
            for batch in evenly(rows.lengths, tokens=self.tokens):
                logits = self._blanked(rows, batch)[: batch.fresh]
                out[batch.rows[: batch.fresh]] = logits.double().cpu().numpy()
        return out

    def _dropped(self, rows: Rows) -> Rows:
        hidden = not rows.visible.all()
        if hidden and not self.drops:
            raise NotApplicable("this model takes whole images: patches can't be left out")
        return closed_up(rows) if hidden else rows


def patched(inner: PreTrainedModel) -> Patched:
    """The classifier as a model of a row of patches.

    Raises:
        AttrialError: If its patches can't be told apart.
    """
    size = _size(inner)
    with suited(inner), guarded(inner), torch.inference_mode():
        layer = inner.get_input_embeddings()
        blank = torch.zeros((1, *size), dtype=inner.dtype, device=inner.device)
        count = first(layer(blank)).shape[1]
        grid = _grid(count, size)
        probe = Patched(inner, Patches.of((size[0], 1, 1), size[1:], 0))
        positions = watched(probe.body, lambda: inner(pixel_values=blank)).shape[1]
        shape = (size[0], size[1] // grid[0], size[2] // grid[1])
        found = Patched(inner, Patches.of(shape, grid, positions - count))
        _check(found)
    return found


def _size(inner: PreTrainedModel) -> tuple[int, int, int]:
    """Channels, height and width of an image."""
    side = getattr(inner.config, "image_size", None)
    if side is None:
        raise AttrialError(f"{type(inner).__name__} has no image_size of its own")
    height, width = side if isinstance(side, list | tuple) else (side, side)
    return int(getattr(inner.config, "num_channels", 3)), int(height), int(width)


def _grid(count: int, size: tuple[int, int, int]) -> tuple[int, int]:
    """Rows and columns of so many square patches."""
    rows = round((count * size[1] / size[2]) ** 0.5)
    columns = count // max(rows, 1)
    if rows * columns != count or size[1] % rows or size[2] % columns:
        raise AttrialError(f"an image of {size[1]} x {size[2]} isn't {count} whole patches")
    return rows, columns


def _check(model: Patched) -> None:
    """Each patch must move its own position alone.

    Raises:
        AttrialError: If it moves another one, or nothing.
    """
    patches = model.words.patches
    for place in {0, patches.count // 2, patches.count - 1}:
        images = np.zeros((2, *patches.size), np.float32)
        (_, h, w), (row, column) = patches.shape, divmod(place, patches.grid[1])
        images[1, :, row * h : (row + 1) * h, column * w : (column + 1) * w] = 1.0
        seen = watched(model.body, _run(model, torch.from_numpy(images)))
        moved = (seen[0] != seen[1]).any(dim=1).nonzero().flatten().tolist()
        if moved != [patches.prefix + place]:
            raise AttrialError(f"{type(model.inner).__name__}: a patch is no position of its own")


def forward_of(model: Patched, *, tokens: int) -> VisionForward:
    """Find out whether patches can be left out, and whether attention can be seen."""
    forward = VisionForward(model, TAKES, 0, 0, tokens)
    with suited(model), guarded(model), torch.inference_mode():
        return replace(forward, drops=_drops(forward), square=_square(forward))


def _drops(forward: VisionForward) -> int:
    """Whether places are told by the embeddings alone: then any patches may go, in any order.

    Models with relative positions or windows fail, as do those whose answers don't tell.
    """
    patches = forward.patched.words.patches
    t = patches.prefix + patches.count
    rng = np.random.default_rng(0)
    ids = np.stack([patches.add(_noise(patches, rng)) for _ in range(PROBED)])
    order = np.concatenate([np.arange(patches.prefix), patches.prefix + _shuffled(patches, rng)])
    visible = np.ones((PROBED, t), bool)
    visible[:, order[-(patches.count // 2) :]] = False
    trying = replace(forward, drops=t)
    places = np.broadcast_to(np.arange(t), ids.shape)
    whole = _rows(ids, places, np.ones_like(visible))
    moved = _rows(ids[:, order], places[:, order], np.ones_like(visible))
    try:
        a, b, c = (trying.outputs([r]) for r in (whole, moved, _rows(ids, places, visible)))
    except (RuntimeError, ValueError, IndexError):  # it insists on whole images
        return 0
    rounding = 100 * torch.finfo(forward.model.dtype).eps * np.abs(a).max()
    return t if np.abs(a - b).max() <= rounding < 0.1 * np.abs(a - c).max() else 0


def _noise(patches: Patches, rng: np.random.Generator) -> Pixels:
    return rng.standard_normal(patches.size).astype(np.float32)


def _shuffled(patches: Patches, rng: np.random.Generator) -> Ints:
    return np.asarray(rng.permutation(patches.count), np.int64)


def _rows(ids: Ints, positions: Ints, visible: Bools) -> Rows:
    zero = np.zeros_like(ids)
    return Rows(ids, zero, positions, visible, zero > 0, np.full(len(ids), ids.shape[1], np.int64))


def _square(forward: VisionForward) -> bool:
    """Whether each layer's attention is one square matrix a head over all positions."""
    model = forward.patched
    if not can_switch(model):
        return False
    patches = model.words.patches
    image = torch.zeros((1, *patches.size))
    try:
        seen = capture(model, _run(model, image)).weights
    except NotApplicable:
        return False
    t = patches.prefix + patches.count
    return all(tuple(w.shape[2:]) == (t, t) and len(w) == 1 for w in seen)


def _run(model: Patched, images: Tensor) -> Callable[[], object]:
    """One forward of the model inside on whole images (R, c, height, width)."""
    return lambda: model.inner(pixel_values=images.to(model.device, model.dtype))
