"""How much sharing answers saves: all methods in one trial against each in a trial of its own.

    python benchmarks/sharing.py [EXAMPLES]

Prints seconds of both ways on an embedded task, measured one after the other, and their
ratio. Run it on an otherwise idle machine.
"""

import sys
import time
from collections.abc import Sequence

import attrial
from attrial.suite import default_suite


def seconds(methods: Sequence[str], limit: int) -> float:
    """Wall seconds of one trial of the planted keyword with its controls."""
    started = time.perf_counter()
    attrial.run(["planted_keyword"], methods, limit=limit)
    return time.perf_counter() - started


def main() -> None:
    """Measure and print."""
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    methods = default_suite().methods
    seconds(["random"], 1)  # imports and caches
    together = seconds(methods, limit)
    apart = sum(seconds([method], limit) for method in methods)
    print(
        f"{len(methods)} methods, {limit} examples: together {together:.1f} s, apart {apart:.1f} s"
    )
    print(f"ratio {apart / together:.1f}")


if __name__ == "__main__":
    main()
