"""The ways in which a sink refuses, with different meanings for the stream."""

from records import UserError


class SinkUnavailable(UserError):
    """The store is away or overloaded. Nothing is lost: hold the stream back and write the same batch again."""


class SinkRejected(UserError):
    """The store will not take this, however often it is tried (schema missing, access denied). The message says what to do."""


class RecordRejected(ValueError):
    """The store does not take one of these records, and takes others: find it and put it aside."""
