"""One thread a process: tiny models run several times faster so, and always the same."""

import gc
import os

from hypothesis import HealthCheck, settings

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
# A machine with other work is no fault of a test.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


def pytest_collection_finish() -> None:
    """Leave all that imports and tests hold out of garbage collections: it stays anyway."""
    gc.collect()
    gc.freeze()
