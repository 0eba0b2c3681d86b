"""What decisions that were not carried out would have done, and what happened to their jobs instead."""

from .facts import Facts, gather
from .report import DECISION, EXPLANATION, SUMMARY, Row, as_row, judge, summarise, summary

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
