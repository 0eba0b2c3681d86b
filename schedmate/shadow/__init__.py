"""What decisions that were not carried out would have done, and what happened to their jobs instead."""

from .facts import Facts, gather
from .report import Row, as_row, judge, summarise
from .shown import DECISION, EXPLANATION, SUMMARY, summary

__all__ = [
    "DECISION",
    "EXPLANATION",
    "SUMMARY",
    "Facts",
    "Row",
    "as_row",
    "gather",
    "judge",
    "summarise",
    "summary",
]
