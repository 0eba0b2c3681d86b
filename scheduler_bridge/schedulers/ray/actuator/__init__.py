"""Ray as an actuator of the bridge: submissions of its Jobs API."""

from .actuator import RayActuator
from .settings import RayLimits

__all__ = ["RayActuator", "RayLimits"]
