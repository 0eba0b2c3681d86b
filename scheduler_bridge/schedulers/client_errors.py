"""What can go wrong with any scheduler. Each client has errors of its own, by name, that are these."""

from schedmate_records import ExpectationError


class SchedulerError(ExpectationError):
    """The scheduler did not do, or did not tell, what was asked; the text says what was expected, what came, and what to do."""


class SchedulerUnavailable(SchedulerError):
    """The scheduler does not answer, or nothing says where it is: nothing is known."""
