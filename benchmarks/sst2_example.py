"""Every method on real sentences: the tables, the trust report and the diagrams of docs/sst2.

    python benchmarks/sst2_example.py --model DIR --data FILE --out docs/sst2

DIR holds a sentiment classifier, FILE lines of ``label text``. Sixty sentences, two removals, every
registered method, 200 model rows for each that samples. What was computed is kept under ``--work``,
so that a second run goes on where the first one stopped.
"""

import argparse
from pathlib import Path

import attrial
from attrial.board import Board
from attrial.report.account.document import document
from attrial.report.parts import Drawing

METRICS = (
    *("aopc", "comprehensiveness", "sufficiency", "deletion_auc", "insertion_auc"),
    *("decision_flip_fraction", "gini", "entropy"),
)


def main() -> None:
    """Run, and write what docs show."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", type=Path, default=Path("docs/sst2"))
    parser.add_argument("--work", type=Path, default=Path("attrial-out/sst2"))
    parser.add_argument("--limit", type=int, default=60)
    asked = parser.parse_args()
    board = attrial.run(
        ["sst2"],
        ["all"],
        models=[asked.model],
        data=asked.data,
        metrics=METRICS,
        removals=["mask", "delete"],
        limit=asked.limit,
        budget=200,
        seed=0,
        out=asked.work,
    )
    write(board, asked.out)


def write(board: Board, out: Path) -> None:
    """The tables and the report as Markdown, each diagram as a picture of its own."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "leaderboard.md").write_text(board.markdown())
    board.report(out / "report.md")
    drawings = [part for part in document(board.entries) if isinstance(part, Drawing)]
    for i, drawing in enumerate(drawings):
        (out / f"critical-difference-{i + 1}.svg").write_text(drawing.svg)


if __name__ == "__main__":
    main()
