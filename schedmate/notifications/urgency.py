"""Urgency of a message."""

from enum import StrEnum


class Urgency(StrEnum):
    """Urgency levels, least urgent first."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """The larger, the more urgent."""
        return list(Urgency).index(self)
