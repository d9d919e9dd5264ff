"""Which cut decides attention flow: how often it is the column of the position that is read.

    python benchmarks/flow_cut.py --model FOLDER --data FILE [--limit 30]

The data file has a label, a space and a text on each line. For the tokens of each text (special
ones left out) it prints the share whose flow equals the cut around the read position's column,

    sum over layers l >= 2 of (1 - A_l[read, read]) + A_1[read, j],

A being attention with heads averaged and half of the identity added, layer 1 nearest the input;
and the mean rank correlation of flow with the bottom layer's read row, and of both with rollout.
"""

import argparse
from pathlib import Path

import numpy as np
from scipy import stats

from attrial import algebra
from attrial.ask import attend
from attrial.classifiers import classifier_of
from attrial.example import FIXED, Example
from attrial.masks import Floats
from attrial.models.text import TextClassifier
from attrial.target import Target
from attrial.value import Subject, Value, answer

EQUAL = 1e-6
NAMES = ("flow and bottom row", "flow and rollout", "bottom row and rollout")


def texts(path: Path, limit: int) -> list[str]:
    """The first texts of the file."""
    lines = path.read_text(encoding="utf-8").splitlines()[:limit]
    return [line.split(" ", 1)[1].strip() for line in lines]


def attention(model: TextClassifier, x: Example) -> Floats:
    """Attention of one text with heads averaged: (L, t, t)."""
    subject = Subject(x, "mask", Target(0, "log_odds"))
    (got,) = answer(Value(model), [(subject, attend(fuse="mean"))])
    assert got.result is not None, got.undefined
    return got.result.weights


def measures(x: Example, weights: Floats) -> tuple[list[bool], list[float]]:
    """Which tokens' flow is that cut, and the three rank correlations."""
    tokens = np.flatnonzero(x.owner != FIXED)
    layers = algebra.add_residual(weights)
    flow = algebra.flow(weights, rows=[x.read])[0, tokens]
    rolled = algebra.rollout(weights)[x.read, tokens]
    bottom = layers[0, x.read, tokens]
    cut = (1 - layers[1:, x.read, x.read]).sum() + bottom
    pairs = [(flow, bottom), (flow, rolled), (bottom, rolled)]
    rho = [float(stats.spearmanr(a, b).statistic) for a, b in pairs]
    return (np.abs(flow - cut) <= EQUAL).tolist(), rho


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", required=True, help="Folder of a classifier.")
    parser.add_argument("--data", required=True, type=Path, help="Lines of 'label text'.")
    parser.add_argument("--limit", type=int, default=30, help="First texts of the file.")
    asked = parser.parse_args()
    model = classifier_of(asked.model)
    examples = [
        model.encode(str(i), (text,), players="tokens")
        for i, text in enumerate(texts(asked.data, asked.limit))
    ]
    found = [measures(x, attention(model, x)) for x in examples]
    equal = [hit for hits, _ in found for hit in hits]
    print(f"{len(found)} texts, {len(equal)} tokens")
    print(f"flow is the read position's column cut: {np.mean(equal):.1%} of tokens")
    for name, rho in zip(NAMES, np.transpose([rho for _, rho in found]), strict=True):
        print(f"Spearman of {name}: mean {rho.mean():.3f}, least {rho.min():.3f}")


if __name__ == "__main__":
    main()
