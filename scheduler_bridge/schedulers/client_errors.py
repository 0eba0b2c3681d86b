"""What can go wrong with any scheduler. Each client has errors of its own, by name, that are these."""

from schedmate_records import ExpectationError


class SchedulerError(ExpectationError):
    """The scheduler did not do, or did not answer, what was asked; the text states what was expected, what came, and what to do."""


class SchedulerUnavailable(SchedulerError):
    """The scheduler does not answer, or its address is not known: nothing is known."""
