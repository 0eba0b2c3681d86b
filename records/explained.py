"""Errors that are meant for people."""


class Explained(Exception):
    """An error that a person can mend: its message says what was expected, what came, and what to do."""
