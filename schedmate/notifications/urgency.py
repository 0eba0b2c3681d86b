"""How urgent a message is."""

from enum import StrEnum


class Urgency(StrEnum):
    """How soon somebody should look, the least urgent first."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """The larger, the more urgent."""
        return list(Urgency).index(self)
