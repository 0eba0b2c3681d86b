"""Kubernetes as an actuator of the bridge: batch/v1 Jobs, Indexed ones included, and nodes."""

from .actuator import KubernetesActuator
from .settings import KubernetesLimits

__all__ = ["KubernetesActuator", "KubernetesLimits"]
