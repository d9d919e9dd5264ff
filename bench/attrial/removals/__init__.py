"""Removals, one a file; the file is the name."""
