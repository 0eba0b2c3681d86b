"""Connection options of aiokafka, which Faust uses."""

from typing import Any

from aiokafka import errors

from .connection import CLIENT_ID, Connection

TOO_LARGE = (errors.MessageSizeTooLargeError, errors.RecordTooLargeError)
"""A message that its topic does not take, however often it is sent."""

REFUSED = (
    errors.TopicAuthorizationFailedError,
    errors.GroupAuthorizationFailedError,
    errors.ClusterAuthorizationFailedError,
    errors.AuthenticationFailedError,
    errors.InvalidTopicError,
    errors.UnsupportedVersionError,
)
"""Permanent errors of the broker: trying again changes nothing until an operator has changed something."""


def aiokafka_config(connection: Connection) -> dict[str, Any]:
    """Return the settings that every client of aiokafka takes."""
    chosen: dict[str, Any] = {
        "bootstrap_servers": list(connection.brokers),
        "client_id": CLIENT_ID,
        "security_protocol": connection.security_protocol,
        "ssl_context": connection.ssl_context(),
    }
    if connection.sasl_mechanism:
        chosen |= {
            "sasl_mechanism": connection.sasl_mechanism,
            "sasl_plain_username": connection.sasl_username,
            "sasl_plain_password": connection.sasl_password,
        }
    return chosen
