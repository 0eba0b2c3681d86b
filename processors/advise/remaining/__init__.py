"""How long a running job still takes, from its own progress: step k of N, epoch k of N, or the time that its log expects."""

from .stage import Remaining, RemainingState

__all__ = ["Remaining", "RemainingState"]
