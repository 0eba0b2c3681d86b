"""The agent that reads a source tree for what the extractor left open (SchedMate §3.1): ReAct with two tools, in a closed schema."""

from .claims import Claim
from .loop import Filled, fill

__all__ = ["Claim", "Filled", "fill"]
