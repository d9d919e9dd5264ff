"""Checks of arguments that several methods take."""

from attrial.errors import AttrialError


def at_least(method: str, option: str, value: float, least: float) -> None:
    """Refuse a value that is too small, naming what would be right."""
    if value < least:
        raise AttrialError(f"{method}: {option}={value}; it takes {least} or more")


def within(method: str, option: str, value: int, least: int, most: int) -> None:
    """Refuse a number outside of its bounds, naming them."""
    if not least <= value <= most:
        raise AttrialError(f"{method}: {option}={value}; it takes {least} to {most}")
