"""Where metrics and where methods disagree, as shaded matrices. Pure."""

import numpy as np

from attrial.report.parts import Cell, Part, Table, figure, note, plain
from attrial.report.phrases import DASH
from attrial.trust import Findings, Matrix


def metrics(found: Findings) -> list[Part]:
    """Metric-to-metric matrices under each removal."""
    parts: list[Part] = []
    for removal, matrix in found.by_means.items():
        if len(matrix.names) < 2:
            parts.append(plain(f"{removal}: one metric alone can't disagree."))
            continue
        parts += [
            plain(_extremes(matrix, f"Players removed by {removal}: the method means are ranked")),
            square(matrix, f"Kendall's tau-b of the method means ({removal})"),
            square(found.by_examples[removal], f"Spearman's rho on each example, mean ({removal})"),
        ]
    return [*parts, note(METRICS)]


METRICS = (
    "Every metric is turned so that higher is better. On each example the methods are ranked by "
    "both metrics; examples on which one of them ranks nobody, or a method has no value, are left "
    "out; in brackets: those that stay. Metrics that disagree measure different things: choosing "
    "one of them is a choice, and no composite is made here."
)


def methods(found: Findings) -> list[Part]:
    """Method-to-method matrices."""
    if len(found.ground.methods) < 2:
        return [plain("One method alone can't disagree.")]
    return [
        plain(_extremes(found.taus, "Attributions of the same example are ranked")),
        square(found.taus, "Kendall's tau-b of the attributions, mean over examples"),
        square(found.overlaps, "Overlap of the highest scored quarter of the players"),
        square(found.signed_ranks, "Signed-rank agreement of the strongest quarter"),
        note(METHODS),
    ]


METHODS = (
    "Tau-b is undefined where an attribution is constant. Overlap: share of the top quarter (one "
    "player at least) in common, ties at the border by their chance to be drawn in. Signed-rank "
    "agreement: share of the strongest quarter by absolute score that has the same rank and the "
    "same sign in both; undefined where a tie crosses the border. Agreement is no evidence that "
    "either is right."
)


def _extremes(matrix: Matrix, start: str) -> str:
    """The most and the least alike pair in words."""
    i, j = np.triu_indices(len(matrix.names), 1)
    values = matrix.values[i, j]
    if np.isnan(values).all():
        return f"{start} alike by nobody: every pair is undefined."
    top, low = int(np.nanargmax(values)), int(np.nanargmin(values))
    most, least = (f"{matrix.names[i[k]]} and {matrix.names[j[k]]}" for k in (top, low))
    if f"{values[top]:.2f}" == f"{values[low]:.2f}":
        return f"{start} as alike by every pair ({values[top]:.2f})."
    return (
        f"{start} most alike by {most} ({values[top]:.2f}), least by {least} ({values[low]:.2f})."
    )


def square(matrix: Matrix, caption: str) -> Table:
    """A matrix with its columns numbered like its rows."""
    numbers = [str(k + 1) for k in range(len(matrix.names))]
    rows = tuple(
        (Cell(f"{numbers[i]}. {name}"), *(_cell(matrix, i, j) for j in range(len(numbers))))
        for i, name in enumerate(matrix.names)
    )
    header = (Cell(""), *(Cell(n, number=True) for n in numbers))
    return Table(header, rows, caption, square=True)


def _cell(matrix: Matrix, i: int, j: int) -> Cell:
    value, n = float(matrix.values[i, j]), int(matrix.defined[i, j])
    pair = f"{matrix.names[i]}, {matrix.names[j]}"
    missing = matrix.of - n
    if i == j:
        return Cell("1" if n else DASH, number=True, note=pair)
    after = f" ({n})" if missing and n else ""
    told = f"{pair}: undefined on {missing} of {matrix.of}" if missing else pair
    return figure(value, shade=True, after=after, note=told)
