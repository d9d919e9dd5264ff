"""What the command line lets people choose from."""

from enum import StrEnum


class Kind(StrEnum):
    """What can be listed."""

    methods = "methods"
    metrics = "metrics"
    tasks = "tasks"
    removals = "removals"
    checks = "checks"


class Format(StrEnum):
    """Forms of a leaderboard."""

    md = "md"
    html = "html"
    csv = "csv"
    json = "json"
    latex = "latex"
