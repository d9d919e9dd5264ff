"""What players add only together: an (n, n) matrix, as a method notes it and as it is read."""

from collections.abc import Mapping

import numpy as np

from attrial.masks import Floats

NOTED = "interactions"


def noted(matrix: Floats) -> dict[str, float | list[float]]:
    """The note of a symmetric matrix (n, n): row after row."""
    return {NOTED: matrix.ravel().tolist()}


def read(notes: Mapping[str, float | list[float]], n: int) -> Floats | None:
    """The matrix (n, n) that a method noted, or None where it noted none."""
    flat = notes.get(NOTED)
    return np.reshape(flat, (n, n)) if isinstance(flat, list) else None


def top_pair(matrix: Floats) -> tuple[int, int]:
    """The pair i < j of the largest absolute entry off the diagonal; the first one of equals.

    >>> top_pair(np.array([[9.0, 1.0, -2.0], [1.0, 0.0, 0.5], [-2.0, 0.5, 0.0]]))
    (0, 2)
    """
    first, second = np.triu_indices(len(matrix), 1)
    if not len(first):
        raise ValueError("one player alone is no pair")
    strongest = int(np.argmax(np.abs(matrix[first, second])))
    return int(first[strongest]), int(second[strongest])
