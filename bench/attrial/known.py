"""What a model has answered about one example, remembered by mask."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from attrial.masks import Floats, Masks, keys


@dataclass
class Known:
    """Remembered outputs of one example under one removal."""

    index: dict[bytes, int] = field(default_factory=dict)
    outputs: Floats = field(default_factory=lambda: np.empty((0, 0)))

    def add(self, new: Sequence[bytes], outputs: Floats) -> None:
        """Remember the outputs (k, classes) of k masks not yet known."""
        start = len(self.index)
        self.index.update((key, start + i) for i, key in enumerate(new))
        self.outputs = np.concatenate([self.outputs, outputs]) if start else outputs

    def rows(self, asked: Sequence[bytes]) -> Floats:
        """Outputs of masks that are known."""
        return np.asarray(self.outputs[[self.index[key] for key in asked]])

    def masks(self, n: int) -> Masks:
        """The known masks (k, n), in the order of ``outputs``."""
        packed = np.array([list(key) for key in self.index], np.uint8).reshape(len(self.index), -1)
        return np.unpackbits(packed, axis=1, count=n, bitorder="little").astype(bool)

    def rows_of(self, masks: Masks) -> Floats:
        """Outputs (k, classes) of masks that are known."""
        return self.rows(keys(masks))
