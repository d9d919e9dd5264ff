"""Whatever ran before in a process, gradients are the same to the last bit as in a fresh one."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CODE = """
import hashlib, json, sys
import numpy as np
from tests import families
from tests.test_families import outcome
BEFORE = ("lrp_attention", "lrp_conservative", "captum_deep_lift", "chefer", "alti")
for family in sys.argv[1:]:
    for method in BEFORE:
        assert not isinstance(outcome(families.classifier(family), method), str)
told = {}
for family in ("bert", "llama", "gpt2", "gemma2"):
    for method in ("integrated_gradients", "input_x_gradient"):
        scores = outcome(families.classifier(family), method)
        told[f"{family} {method}"] = hashlib.sha256(np.asarray(scores).tobytes()).hexdigest()
print(json.dumps(told))
"""


def digests(*before: str) -> dict[str, str]:
    """Of gradients' scores on four families, in a process where other methods ran on some first."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, *before], check=True, capture_output=True, text=True, cwd=ROOT
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_gradients_after_propagation_are_those_of_a_fresh_process() -> None:
    fresh = digests()
    assert len(set(fresh.values())) == 8  # they tell families and methods apart
    assert digests("gpt2", "llama") == fresh
    assert digests("gemma2", "bert") == fresh
