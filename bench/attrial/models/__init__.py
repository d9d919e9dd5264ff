"""Models behind the questions; the only part of the engine that imports torch."""
