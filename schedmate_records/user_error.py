"""Errors that are meant for people."""


class UserError(Exception):
    """An error that a person can fix: its message states what was expected, what came, and what to do."""


class ExpectationError(UserError):
    """One in three parts: what was expected, what came instead, and what to do."""

    def __init__(self, expected: str, came: str, remedy: str) -> None:
        super().__init__(f"expected {expected}; came: {came}; {remedy}")
        self.expected = expected
        self.came = came
        self.remedy = remedy


def counted(number: float, thing: str) -> str:
    """Return a count with its noun, whose plural ends in s: `1 line`, `1,200 lines`."""
    return f"{number:{',' if isinstance(number, int) else 'g'}} {thing}{'' if number == 1 else 's'}"


def in_words(error: Exception) -> str:
    """Return the message of `error`, without the number and the file's name that an `OSError` puts around it."""
    return (isinstance(error, OSError) and error.strerror) or str(error)
