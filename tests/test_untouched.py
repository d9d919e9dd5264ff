"""Whatever ran before in a process, gradients are the same to the last bit as in a fresh one."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from tests import families
from tests.test_families import outcome

ROOT = Path(__file__).parents[1]
CODE = """
import json, sys
from tests.test_untouched import digests
print(json.dumps(digests(*sys.argv[1:])))
"""
BEFORE = ("lrp_attention", "lrp_conservative", "captum_deep_lift", "chefer", "alti")


def digests(*before: str) -> dict[str, str]:
    """Of gradients' scores on four families, after other methods ran on some."""
    for family in before:
        for method in BEFORE:
            assert not isinstance(outcome(families.classifier(family), method), str)
    told = {}
    for family in ("bert", "llama", "gpt2", "gemma2"):
        for method in ("integrated_gradients", "input_x_gradient"):
            scores = outcome(families.classifier(family), method)
            told[f"{family} {method}"] = hashlib.sha256(np.asarray(scores).tobytes()).hexdigest()
    return told


def elsewhere(*before: str) -> dict[str, str]:
    """Digests of a process that has run nothing else."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, *before], check=True, capture_output=True, text=True, cwd=ROOT
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_gradients_after_propagation_are_those_of_a_fresh_process() -> None:
    fresh = elsewhere()
    assert len(set(fresh.values())) == 8  # they tell families and methods apart
    assert elsewhere("gpt2", "llama") == fresh
    assert digests("gemma2", "bert") == fresh  # here, after whatever other tests ran
