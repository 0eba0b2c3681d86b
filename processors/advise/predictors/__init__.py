"""Predicts durations from a cluster's own past: features, models, intervals, and the file that holds a model."""
