"""Max-sensitivity: the largest change of scores under noise that changes no prediction."""

from collections.abc import Mapping, Sequence

import numpy as np

from attrial.check_bench import Bench, Cell, Explained, Outcome, means
from attrial.checks._alike import compared
from attrial.errors import AttrialError
from attrial.masks import Scores

RULE = "less"
NULL = None
DIRECTION = "lower"
UNIT = "relative change"
VERSION = 1
Cells = list[Cell]


def max_sensitivity(
    bench: Bench, *, seed: int, radii: tuple[float, ...] = (0.01, 0.03, 0.1), draws: int = 4
) -> Outcome:
    """The largest ||s - s'|| / ||s|| under noise on the words' embeddings (Yeh et al. 2019).

    Noise has a random direction and ``radius`` times the norm of the embedding; equal words get
    equal noise, special tokens none. Draws that change the predicted class are left out; where all
    do, there is no value. Judged at the largest radius, against what putting an explanation's own
    scores in random order would change: sqrt(2 (||s||^2 - (sum s)^2 / n)) / ||s||. The change over
    the radius (a local Lipschitz constant) is reported for each radius.

    Args:
        bench: The method on trial.
        seed: Of the explanations and the noise.
        radii: Sizes of the noise, as shares of an embedding's norm.
        draws: Of the noise, a radius.
    """
    if not radii or min(radii) <= 0 or draws < 1:
        raise AttrialError("max_sensitivity: radii and draws must be above 0")
    before = bench.explain(seed=seed)
    worst = {r: _worst(bench, before, r, seed, draws) for r in sorted(radii)}
    null = [e if isinstance(e, str) else shuffled(e) for e in before]
    return Outcome([worst[max(radii)]], [null], _detail(worst))


def _detail(worst: Mapping[float, Cells]) -> dict[str, float]:
    slopes = {r: [c if isinstance(c, str) else c / r for c in cells] for r, cells in worst.items()}
    change = means({f"radius {r:g}": cells for r, cells in worst.items()})
    return change | means({f"Lipschitz at {r:g}": cells for r, cells in slopes.items()})


def _worst(
    bench: Bench, before: Sequence[Explained], radius: float, seed: int, draws: int
) -> Cells:
    """The largest change over all draws that keep the prediction, example by example."""
    found = [_draw(bench, before, radius, seed + i) for i in range(draws)]
    return [_largest(cells) for cells in zip(*found, strict=True)]


def _draw(bench: Bench, before: Sequence[Explained], radius: float, seed: int) -> Cells:
    noisy = bench.altered.noisy(radius=radius, seed=seed)
    kept = [
        int(np.argmax(o)) == c for o, c in zip(bench.outputs(noisy), bench.classes, strict=True)
    ]
    after = bench.explain(noisy, seed=seed)
    return [
        compared(relative, a, b) if same else "noise changed the prediction"
        for a, b, same in zip(before, after, kept, strict=True)
    ]


def _largest(cells: Sequence[Cell]) -> Cell:
    found = [c for c in cells if not isinstance(c, str)]
    return max(found) if found else cells[0]


def relative(a: Scores, b: Scores) -> Cell:
    """||a - b|| / ||a||: the change beside the explanation's own size, not beside the input's."""
    size = float(np.linalg.norm(a))
    return float(np.linalg.norm(a - b)) / size if size else "scores are all 0"


def shuffled(s: Scores) -> Cell:
    """The root of the mean square change when scores are put in random order."""
    square = float(s @ s)
    if not square:
        return "scores are all 0"
    return float(np.sqrt(max(0.0, 2 * (square - s.sum() ** 2 / len(s))) / square))
