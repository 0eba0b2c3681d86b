"""Estimates of the starts of waiting jobs: many simulations of the live queue with random durations."""

from .model import Lasting, NodeRoom, Present, Running, Waiting
from .play import play
from .ranges import StartRange, start_ranges

__all__ = ["Lasting", "NodeRoom", "Present", "Running", "StartRange", "Waiting", "play", "start_ranges"]
