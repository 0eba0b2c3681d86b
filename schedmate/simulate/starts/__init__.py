"""When will each job that waits start? The live queue, played forward many times with durations as uncertain as they are."""

from .model import Lasting, NodeRoom, Present, Running, Waiting
from .play import play
from .ranges import StartRange, start_ranges

__all__ = ["Lasting", "NodeRoom", "Present", "Running", "StartRange", "Waiting", "play", "start_ranges"]
