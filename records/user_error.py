"""Errors that are meant for people."""


class UserError(Exception):
    """An error that a person can mend: its message says what was expected, what came, and what to do."""


def in_words(error: Exception) -> str:
    """Return what `error` says, without the number and the file's name that an `OSError` puts around it."""
    return (isinstance(error, OSError) and error.strerror) or str(error)
