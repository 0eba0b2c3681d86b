"""Asks one broker what it has against us.

kafka-python raises the same error for a wrong password, an unknown authority and a broker that is away: it could not bootstrap. So one
more connection is made, with aiokafka, whose errors distinguish them.
"""

import asyncio
import ssl

from aiokafka import errors as answers
from aiokafka.conn import create_conn

from schedmate_records import misconfigured, network_error

from ..transport import BrokerUnavailable, TransportError
from .connection import CLIENT_ID, Connection

PATIENCE_S = 5.0
"""A person waits for the answer. A broker that lets us in does so within milliseconds, on a bad line within a second or two."""


def probe(connection: Connection, broker: str) -> TransportError | None:
    """Return what keeps us out of `broker`; None where it lets us in."""
    try:
        asyncio.run(_connect(connection, broker))
    except Exception as error:  # noqa: BLE001  an unknown server on that port may cause any error
        return _error(connection, broker, error)
    return None


async def _connect(connection: Connection, broker: str) -> None:
    host, _, port = broker.rpartition(":")
    context: ssl.SSLContext | None = connection.ssl_context()
    opening = create_conn(
        host.strip("[]"),
        int(port),
        client_id=CLIENT_ID,
        request_timeout_ms=int(PATIENCE_S * 1000),
        ssl_context=context,
        security_protocol=connection.security_protocol,
        sasl_mechanism=connection.sasl_mechanism or "PLAIN",
        sasl_plain_username=connection.sasl_username or None,
        sasl_plain_password=connection.sasl_password or None,
    )
    (await asyncio.wait_for(opening, PATIENCE_S)).close()


_ANSWERS: tuple[tuple[type[Exception], str], ...] = (
    (
        answers.SaslAuthenticationFailed,
        "{broker} refuses user {user}: wrong user name or password; check kafka.username and kafka.password",
    ),
    (
        answers.UnsupportedSaslMechanismError,
        "{broker} does not take passwords by {mechanism}: set kafka.sasl_mechanism to one that it offers",
    ),
    (
        answers.IllegalSaslStateError,
        "{broker} asks for no password on this port: check the port, or set kafka.security without SASL_",
    ),
)


def _error(connection: Connection, broker: str, error: Exception) -> TransportError:
    for kind, said in _ANSWERS:
        if isinstance(error, kind):
            return TransportError(
                said.format(broker=broker, user=connection.sasl_username, mechanism=connection.sasl_mechanism)
            )
    if isinstance(error, TransportError):
        return error
    if said := network_error(error, broker):
        return TransportError(said) if misconfigured(error) else BrokerUnavailable(said)
    if isinstance(error, answers.KafkaConnectionError):  # so does one that is just starting or stopping
        return BrokerUnavailable(
            f"{broker} broke the connection off: does it expect TLS or a password there (kafka.security)?"
        )
    return BrokerUnavailable(f"expected a Kafka broker at {broker}, got {error!r}: is it running and reachable?")
