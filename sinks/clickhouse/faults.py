"""Meaning of ClickHouse's errors for the stream: wait, wait with a limit, or give up."""

from collections.abc import Iterator
from contextlib import contextmanager

from clickhouse_connect.driver.exceptions import (
    ClickHouseError,
    DataError,
    Error,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
)

from schedmate_records import network_error, untrusted

from ..errors import RecordRejected, SinkRejected, SinkUnavailable, TablesMissing, UnknownFault

# Numbers from ClickHouse's src/Common/ErrorCodes.cpp.
_SCHEMA = frozenset({
    10,  # NOT_FOUND_COLUMN_IN_BLOCK
    16,  # NO_SUCH_COLUMN_IN_TABLE
    47,  # UNKNOWN_IDENTIFIER
    60,  # UNKNOWN_TABLE
    81,  # UNKNOWN_DATABASE
    218,  # TABLE_IS_DROPPED
})  # fmt: skip
_ACCESS = frozenset({
    164,  # READONLY
    192,  # UNKNOWN_USER
    193,  # WRONG_PASSWORD
    194,  # REQUIRED_PASSWORD
    497,  # ACCESS_DENIED
    516,  # AUTHENTICATION_FAILED
})  # fmt: skip
_DATA = frozenset({
    6, 26, 27,  # CANNOT_PARSE_TEXT, CANNOT_PARSE_QUOTED_STRING, CANNOT_PARSE_INPUT_ASSERTION_FAILED
    33, 41, 72,  # CANNOT_READ_ALL_DATA, CANNOT_PARSE_DATETIME, CANNOT_PARSE_NUMBER
    53, 69, 70, 321,  # TYPE_MISMATCH, ARGUMENT_OUT_OF_BOUND, CANNOT_CONVERT_TYPE, VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE
})  # fmt: skip
_PASSING = frozenset({
    3,  # UNEXPECTED_END_OF_FILE: the connection broke in the middle of the body
    24, 74, 75,  # CANNOT_WRITE_TO_…, CANNOT_READ_FROM_FILE_DESCRIPTOR, CANNOT_WRITE_TO_FILE_DESCRIPTOR
    76,  # CANNOT_OPEN_FILE: no file descriptor is free, for example
    159, 160,  # TIMEOUT_EXCEEDED, TOO_SLOW
    198, 209, 210,  # DNS_ERROR, SOCKET_TIMEOUT, NETWORK_ERROR
    201, 202,  # QUOTA_EXCEEDED, TOO_MANY_SIMULTANEOUS_QUERIES
    203, 279, 410,  # NO_FREE_CONNECTION, ALL_CONNECTION_TRIES_FAILED, EXTERNAL_SERVER_IS_NOT_RESPONDING
    225, 244, 254, 255, 286,  # NO_ZOOKEEPER, UNEXPECTED_ZOOKEEPER_ERROR, NO_ACTIVE_REPLICAS, …, UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
    236, 394,  # ABORTED, QUERY_WAS_CANCELLED
    173, 241, 243,  # CANNOT_ALLOCATE_MEMORY, MEMORY_LIMIT_EXCEEDED, NOT_ENOUGH_SPACE
    242,  # TABLE_IS_READ_ONLY
    252,  # TOO_MANY_PARTS
    285, 319,  # TOO_FEW_LIVE_REPLICAS, UNKNOWN_STATUS_OF_INSERT
    373,  # SESSION_IS_LOCKED
    425, 439, 473,  # SYSTEM_ERROR, CANNOT_SCHEDULE_TASK (no thread is free), DEADLOCK_AVOIDED
    499, 500, 693,  # S3_ERROR, AZURE_BLOB_STORAGE_ERROR, AWS_ERROR
    722, 733,  # ASYNC_LOAD_WAIT_FAILED, TABLE_IS_BEING_RESTARTED
    745,  # SERVER_OVERLOADED
    999,  # KEEPER_EXCEPTION
})  # fmt: skip


def translated(  # noqa: PLR0911  # a list of cases
    error: Exception, doing: str, where: str = "ClickHouse", *, typed: bool = False
) -> SinkUnavailable | SinkRejected | RecordRejected:
    """Return what `error`, raised while `doing` something, means for the stream. `typed`: a person typed the statement."""
    code = error.code if isinstance(error, Error) else None
    message = _first_line(error)
    if code in _SCHEMA and typed:
        return SinkRejected(f"{doing}: {message}")
    if code in _SCHEMA:
        return TablesMissing(f"{doing}: expected SchedMate's tables, got: {message}. Run `schedmate migrate`.")
    if code in _ACCESS:
        return SinkRejected(
            f"{doing}: ClickHouse refuses this user: {message}. Check the user, its password and its grants."
        )
    if untrusted(error):
        return SinkRejected(f"{doing}: {network_error(error, where)}")
    if code in _PASSING or isinstance(error, OperationalError | OSError):
        return SinkUnavailable(f"{doing}: {(code is None and network_error(error, where)) or message}")
    if isinstance(error, DataError) or code in _DATA:
        return RecordRejected(f"{doing}: {message}")
    if code is not None:
        return UnknownFault(f"{doing}: {message}")
    if isinstance(error, NotSupportedError | ProgrammingError):
        return SinkRejected(f"{doing}: {message}")
    # No code: the answer is not ClickHouse's, for example a proxy's that has lost its server.
    return SinkUnavailable(f"{doing}: {message}")


def _first_line(error: BaseException) -> str:
    """Return the first line of `error` and its deepest cause: the driver's own message hides "connection refused"."""
    deepest = error
    while deepest.__cause__ is not None:
        deepest = deepest.__cause__
    message = str(error).split("\n", 1)[0][:400]
    return message if str(deepest)[:60] in message else f"{message} ({str(deepest)[:200]})"


@contextmanager
def translated_errors(doing: str, where: str = "ClickHouse", *, typed: bool = False) -> Iterator[None]:
    """Turn what ClickHouse, at `where`, raises inside into `SinkUnavailable`, `SinkRejected` or `RecordRejected`.

    `doing` begins the message; `typed` as in `translated`.
    """
    try:
        yield
    except (ClickHouseError, OSError) as error:
        raise translated(error, doing, where, typed=typed) from error
