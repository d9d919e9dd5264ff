"""How many threads a model is worth."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from transformers import PreTrainedModel

SMALL = 2_000_000  # parameters; below, threads cost more than they bring, most of all on busy cores


@contextmanager
def suited(model: PreTrainedModel) -> Iterator[None]:
    """One thread for a small model, the process's own number for others; restored afterwards."""
    before = torch.get_num_threads()
    if sum(p.numel() for p in model.parameters()) < SMALL:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
