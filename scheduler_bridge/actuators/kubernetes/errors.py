"""Kubernetes' errors as those of an actuator."""

from collections.abc import Iterator
from contextlib import contextmanager

from scheduler_bridge.actuators.base import ActuatorError, SchedulerAway
from scheduler_clients.kubernetes import KubernetesError, KubernetesUnavailable


@contextmanager
def translated() -> Iterator[None]:
    """Raise Kubernetes' errors as those of an actuator."""
    try:
        yield
    except KubernetesUnavailable as error:
        raise SchedulerAway(error.expected, error.came, error.remedy) from error
    except KubernetesError as error:
        raise ActuatorError(error.expected, error.came, error.remedy) from error
