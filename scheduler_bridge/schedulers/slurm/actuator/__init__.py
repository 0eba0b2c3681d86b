"""Slurm as an actuator of the bridge."""

from .actuator import SlurmActuator
from .checks import NodeChecks
from .clusters import SlurmClusters
from .resubmission import Resubmission
from .settings import SlurmSettings

__all__ = ["NodeChecks", "Resubmission", "SlurmActuator", "SlurmClusters", "SlurmSettings"]
