"""Connections to Kafka from the settings, and checks of a program's rights."""

from collections.abc import Callable
from threading import Event
from typing import TypeVar

from streams.kafka import Connection, check_role
from streams.resilience import Outage, retry
from streams.rights import ROLES
from streams.transport import BrokerUnavailable, TransportError

from .settings.settings import KafkaSection, SettingsError

Answer = TypeVar("Answer")


def kafka_connection(settings: KafkaSection) -> Connection:
    """Return how to reach Kafka. Raises `SettingsError` where no broker is named."""
    brokers = tuple(part.strip() for part in settings.brokers.split(",") if part.strip())
    if not brokers:
        raise SettingsError("kafka.brokers: expected host:port of at least one broker, got nothing")
    return Connection(
        brokers=brokers,
        security_protocol=settings.security,
        sasl_mechanism=settings.sasl_mechanism if settings.username else "",
        sasl_username=settings.username,
        sasl_password=settings.secret(),
        ssl_cafile=settings.ssl_cafile,
        ssl_certfile=settings.ssl_certfile,
        ssl_keyfile=settings.ssl_keyfile,
    )


def wait_for_broker(ask: Callable[[], Answer], stop: Event) -> Answer:
    """Return what `ask` returns; a broker that is away is waited for, until `stop` is set: then `BrokerUnavailable` passes."""
    # A service starts within 2 s of its broker; a try costs one connection.
    return retry(ask, Outage("Kafka", limit_s=2.0), on=BrokerUnavailable, stop=stop)


def permitted(settings: KafkaSection, role: str, stop: Event) -> Connection:
    """Return how to reach Kafka, where the topics are there and this user may do what `role` needs; else raise `TransportError`.

    A broker that is away is waited for, until `stop` is set: a service that starts with its broker may be the quicker one.
    """
    connection = kafka_connection(settings)

    def check() -> list[str]:
        if away := connection.problems():
            raise BrokerUnavailable(away[0])
        return check_role(connection, ROLES[role], settings.group)

    if problems := wait_for_broker(check, stop):
        raise TransportError("; ".join(problems))
    return connection
