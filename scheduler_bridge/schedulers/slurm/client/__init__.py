"""Slurm through its own command line, the only complete interface to it (slurmrestd cannot requeue)."""

from .client import SlurmClient
from .commands import RunCommand, SlurmCommands
from .errors import InvalidSlurmJobId, SlurmError, SlurmRefused, SlurmUnavailable, UnknownSlurmJob
from .job import ENDED, SlurmJob, SlurmShare
from .node import SlurmNode

__all__ = [
    "ENDED",
    "InvalidSlurmJobId",
    "RunCommand",
    "SlurmClient",
    "SlurmCommands",
    "SlurmError",
    "SlurmJob",
    "SlurmNode",
    "SlurmRefused",
    "SlurmShare",
    "SlurmUnavailable",
    "UnknownSlurmJob",
]
