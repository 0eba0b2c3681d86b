"""Comparison of decisions that were not carried out with what happened to their jobs."""
