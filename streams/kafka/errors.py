"""Explains what is wrong with a connection to Kafka, and what to do."""

from kafka.errors import (
    AuthorizationError,
    KafkaConnectionError,
    KafkaTimeoutError,
    UnknownTopicOrPartitionError,
    UnsupportedCodecError,
)

from ..transport import BrokerUnavailable, TransportError
from .connection import Connection


def unreachable(connection: Connection, error: BaseException) -> TransportError:
    """Return why no broker could be reached, after `error`; asks each broker once more to find the reason."""
    from .probe import probe  # noqa: PLC0415  # a second client, for which a pipe that works does not pay

    found = [wrong for broker in connection.brokers if (wrong := probe(connection, broker))]
    if not found:
        where = ",".join(connection.brokers)
        return BrokerUnavailable(f"expected a Kafka broker at {where}, got {error!r}: is it running and reachable?")
    passing = all(isinstance(each, BrokerUnavailable) for each in found)
    said = f"cannot use Kafka: {'; '.join(dict.fromkeys(map(str, found)))}"
    return BrokerUnavailable(said) if passing else TransportError(said)


def refused(connection: Connection, error: BaseException, doing: str) -> TransportError:
    """Return what `error`, which a broker answered while `doing` something ("write to job-logs"), means for a person."""
    who = f"user {connection.sasl_username}" if connection.sasl_username else "this client"
    # A producer that may write nowhere gets no more than a text from kafka-python, which holds the answer's name.
    if isinstance(error, AuthorizationError) or "AuthorizationFailedError" in str(error):
        return TransportError(f"{who} has no right to {doing}; `schedmate acls list` shows what each program needs")
    if isinstance(error, UnknownTopicOrPartitionError):
        return TransportError(f"cannot {doing}: the topic does not exist; run `schedmate topics create`")
    if isinstance(error, UnsupportedCodecError):
        return TransportError(
            f"cannot {doing}: messages there are compressed in a way that needs a library ({error}); "
            "for zstd: run `pip install '.[zstd]'` in the checkout"
        )
    where = ",".join(connection.brokers)
    if isinstance(error, KafkaTimeoutError):
        return BrokerUnavailable(
            f"cannot {doing} at {where}: {error}; is the broker up, and does the topic exist (schedmate topics check)?"
        )
    away = isinstance(error, KafkaConnectionError) or getattr(error, "retriable", False)
    return (BrokerUnavailable if away else TransportError)(f"cannot {doing} at {where}: {error!r}")
