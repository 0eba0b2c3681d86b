"""Interference monitor: does a job run slower since another was packed beside it? (SchedMate §4.1)."""
