"""Remaining time of a running job from its progress: step k of N, epoch k of N, or the remaining time that its log states."""

from .stage import Remaining, RemainingState

__all__ = ["Remaining", "RemainingState"]
