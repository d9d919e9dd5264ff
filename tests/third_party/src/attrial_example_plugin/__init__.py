"""A package of one method, as somebody else would write it."""
