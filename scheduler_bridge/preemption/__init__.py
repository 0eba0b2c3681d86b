"""Evictions in favour of jobs that wait: the policy, what a job would lose, and the choice of victims."""

from processors.eviction import EvictionPlan

from .look import Preemption
from .losses import Loss, loss_of
from .policy import POLICY, PreemptionFacts, decide
from .victims import VictimChoice, least_loss

__all__ = [
    "POLICY",
    "EvictionPlan",
    "Loss",
    "Preemption",
    "PreemptionFacts",
    "VictimChoice",
    "decide",
    "least_loss",
    "loss_of",
]
