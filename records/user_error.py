"""Errors that are meant for people."""


class UserError(Exception):
    """An error that a person can mend: its message says what was expected, what came, and what to do."""
