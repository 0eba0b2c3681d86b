"""Common errors of scheduler clients. Each client has subclasses."""

from schedmate_records import ExpectationError


class SchedulerError(ExpectationError):
    """The scheduler did not do, or did not answer, what was asked; the text states what was expected, what came, and what to do."""


class SchedulerUnavailable(SchedulerError):
    """The scheduler does not answer, or its address is not known: nothing is known."""
