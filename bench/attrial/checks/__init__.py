"""Built-in checks of methods, one a file; they re-explain."""
