"""Slurm, through its own command line: the only complete interface to it (slurmrestd cannot requeue)."""

from .actuator import SlurmActuator
from .commands import SlurmSettings

__all__ = ["SlurmActuator", "SlurmSettings"]
