"""What several commands share: kinds of options, and the command as it was typed."""

import shlex
import sys

Many = list[str] | None


def command_line() -> str:
    """The command that runs, ready to be typed again."""
    return shlex.join(["attrial", *sys.argv[1:]])
