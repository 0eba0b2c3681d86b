"""The agent that reads a source tree for what the extractor left open (SchedMate §3.1): ReAct with two tools, in a closed schema."""

from .claims import Claim
from .loop import Filled, fill
from .tools import SourceTools, Tools

__all__ = ["Claim", "Filled", "SourceTools", "Tools", "fill"]
