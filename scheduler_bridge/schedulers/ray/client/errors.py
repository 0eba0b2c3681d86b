"""Errors of Ray."""

from ...client_errors import SchedulerError, SchedulerUnavailable


class RayError(SchedulerError):
    """Ray did not do, or did not answer, what was asked; the text states what was expected, what came, and what to do."""


class RayUnavailable(RayError, SchedulerUnavailable):
    """The head does not answer, or its address is not known: nothing is known."""


class RayNotFound(RayError):
    """There is no such job (any more)."""


class RayConflict(RayError):
    """There is a job of that submission id already."""


class RayRefused(RayError):
    """The head answered, and refused: no token, or a wrong one (401, 403), or a request that it does not take."""
