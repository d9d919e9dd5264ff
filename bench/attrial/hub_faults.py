"""Why the Hugging Face Hub gave nothing, in a few words."""

from collections.abc import Iterator


def reason(error: BaseException, revision: str | None) -> str:
    """What went wrong, by the kinds of the errors that led to this one.

    >>> reason(OSError("no route to host"), None)
    'OSError: no route to host'
    """
    kinds = {type(one).__name__ for one in _chain(error)}
    if "GatedRepoError" in kinds or " is a gated " in str(error):
        return "it asks for consent on its page, and then for a login: hf auth login"
    if "RevisionNotFoundError" in kinds:
        return f"it has no revision {revision!r}"
    if "RepositoryNotFoundError" in kinds:
        return "there is none of that name, or it is private"
    said = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {said[:120]}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and those behind it."""
    seen: list[BaseException] = []
    found: BaseException | None = error
    while found is not None and found not in seen:
        seen.append(found)
        yield found
        found = found.__cause__ or found.__context__
