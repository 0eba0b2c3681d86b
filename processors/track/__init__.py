"""Progress of a training: step, step time, throughput, loss."""

from .state import TrackState
from .tracker import MetricTracker

__all__ = ["MetricTracker", "TrackState"]
