"""Errors of actions, and conversion of client errors to them."""

from collections.abc import Iterator
from contextlib import contextmanager

from schedmate_records import ExpectationError

from .client_errors import SchedulerError, SchedulerUnavailable


class ActuatorError(ExpectationError):
    """The scheduler refused, or does not show the effect; the text states what was expected, what came, and what to do."""


class SchedulerAway(ActuatorError):
    """The scheduler cannot be asked just now, so nothing is known."""


@contextmanager
def translated() -> Iterator[None]:
    """Raise the errors of a scheduler's client as those of an actuator."""
    try:
        yield
    except SchedulerUnavailable as error:
        raise SchedulerAway(error.expected, error.came, error.remedy) from error
    except SchedulerError as error:
        raise ActuatorError(error.expected, error.came, error.remedy) from error
