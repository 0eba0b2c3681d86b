"""A corpus of real training logs with exact truth: see README.md."""
