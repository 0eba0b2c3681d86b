"""The ways in which a sink refuses, with different meanings for the stream."""

from schedmate_records import UserError


class SinkUnavailable(UserError):
    """The store is away or overloaded. Nothing is lost: hold the stream back and write the same batch again."""


class SinkRejected(UserError):
    """The store refuses this permanently (schema missing, access denied). The message states what to do."""


class TablesMissing(SinkRejected):
    """The store lacks a table or a column that it needs. `schedmate migrate` creates it, while a running sink waits."""


class UnknownFault(SinkRejected):
    """The store raised an error that SchedMate does not know: it may pass, or one of the records may cause it."""


class RecordRejected(ValueError):
    """The store does not take one of these records, and takes others: find it and put it aside."""
