"""Slurm as an actuator of the bridge."""

from .actuator import SlurmActuator
from .settings import SlurmSettings

__all__ = ["SlurmActuator", "SlurmSettings"]
