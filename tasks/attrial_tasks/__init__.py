"""Tasks, one a TOML file; the file is the name."""
