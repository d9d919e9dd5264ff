"""Files written whole or not at all."""

import os
import tempfile
from pathlib import Path

from attrial.errors import AttrialError


def write_bytes(path: Path, data: bytes) -> None:
    """Write to a temporary name in the same folder, flush to disk, rename.

    Raises:
        AttrialError: If the folder can't be made or the file not written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise AttrialError(f"can't write {path}: {error.strerror or error}") from error


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8, whole or not at all."""
    write_bytes(path, text.encode())
