"""The agent that reads a source tree with a language model (SchedMate §3.1): ReAct with two tools, in a closed schema.

It is asked first, for all fields. The deterministic reader (`metadata`) completes its answer.
"""

from .claims import Claim
from .loop import Filled, combined, fill
from .tools import SourceTools, Tools

__all__ = ["Claim", "Filled", "SourceTools", "Tools", "combined", "fill"]
