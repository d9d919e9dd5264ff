"""Hooks that stay for a while."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from torch.utils.hooks import RemovableHandle


@contextmanager
def hooked(handles: Sequence[RemovableHandle]) -> Iterator[None]:
    """Hooks that are registered already are removed on leaving."""
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
