"""The question to a language model why an attempt failed: when it is asked, its prompt, and what follows from the answer."""

from .opinions import ModelOpinions, OpinionMetrics, OpinionState
from .prompt import prepare
from .table import Table
from .track_record import TrackRecord

__all__ = ["ModelOpinions", "OpinionMetrics", "OpinionState", "Table", "TrackRecord", "prepare"]
