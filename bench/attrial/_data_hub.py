"""Rows of data sets of the Hugging Face Hub, pinned to the commit that they came from."""

import re
import sys
from itertools import islice
from pathlib import Path
from typing import Any

from attrial._data_files import Rows
from attrial._data_rows import some
from attrial.errors import AttrialError
from attrial.hub_faults import reason

COMMIT = re.compile("[0-9a-f]{40}")
PATIENCE = 10.0  # seconds that the Hub gets to answer


def from_hub(
    name: str,
    *,
    config: str | None,
    revision: str | None,
    split: str | None,
    streaming: bool = False,
    limit: int | None = None,
) -> Rows:
    """The first rows of a data set of the Hugging Face Hub, or of its copy in the local cache.

    Args:
        name: As in ``org/name``.
        config: Which of its configurations.
        revision: Commit, branch or tag.
        split: Which split.
        streaming: Whether rows are fetched one after the other, not the whole split before.
        limit: How many rows.

    Raises:
        AttrialError: For whatever goes wrong on the way, with its reason and how to go without.
    """
    import datasets
    import huggingface_hub

    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    try:
        if not huggingface_hub.constants.HF_HUB_OFFLINE:  # asked first: load_dataset retries long
            about = huggingface_hub.HfApi().dataset_info(name, revision=revision, timeout=PATIENCE)
            revision = getattr(about, "sha", None) or revision
        how = {"streaming": True} if streaming else {}
        data = datasets.load_dataset(name, config, revision=revision, split=split, **how)
        rows = list(islice(data, limit)) if streaming else some(data, limit)
    except Exception as error:
        raise AttrialError(_unreachable(name, revision, error)) from error
    return Rows(rows, revision=_commit(data) or revision)


def _commit(data: Any) -> str | None:  # noqa: ANN401  # datasets ships no types
    """The commit that cached rows came from, after which their folder is named; known offline."""
    files = getattr(data, "cache_files", None) or []
    found = {Path(file["filename"]).parent.name for file in files}
    return found.pop() if len(found) == 1 and all(map(COMMIT.fullmatch, found)) else None


def _unreachable(name: str, revision: str | None, error: Exception) -> str:
    why, way = reason(error, revision), "give a local copy instead: --data FILE --model DIR"
    return f"can't load the data set {name} from the Hugging Face Hub ({why}); {way}"
