"""How the training goes: step, step time, throughput, loss."""

from .tracker import MetricTracker, TrackState

__all__ = ["MetricTracker", "TrackState"]
