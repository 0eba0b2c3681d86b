"""Slurm through its own command line, the only complete interface to it (slurmrestd cannot requeue)."""

from .client import SlurmClient
from .commands import Run, SlurmCommands
from .errors import SlurmError, SlurmRefused, SlurmUnavailable, UnknownSlurmJob
from .job import ENDED, SlurmJob

__all__ = [
    "ENDED",
    "Run",
    "SlurmClient",
    "SlurmCommands",
    "SlurmError",
    "SlurmJob",
    "SlurmRefused",
    "SlurmUnavailable",
    "UnknownSlurmJob",
]
