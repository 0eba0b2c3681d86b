"""What can go wrong with any scheduler. Each client has errors of its own, by name, that are these."""

from records import UserError


class SchedulerError(UserError):
    """The scheduler did not do, or did not tell, what was asked; the text says what was expected, what came, and what to do."""

    def __init__(self, expected: str, came: str, remedy: str) -> None:
        super().__init__(f"expected {expected}; came: {came}; {remedy}")
        self.expected = expected
        self.came = came
        self.remedy = remedy


class SchedulerUnavailable(SchedulerError):
    """The scheduler does not answer, or nothing says where it is: nothing is known."""
