"""A channel that sends each message to a syslog server."""

import socket
from typing import Self

from pydantic import BaseModel, Field

from schedmate.notifications.channel import Channel, ChannelError, ChannelSettings
from schedmate.notifications.message import Notification
from schedmate.notifications.urgency import Urgency

PRIORITIES = {Urgency.INFO: 14, Urgency.WARNING: 12, Urgency.CRITICAL: 10}
"""Facility `user` and the severities `info`, `warning` and `critical` (RFC 5424)."""


class SyslogSettings(BaseModel, frozen=True, extra="forbid"):
    """The section `syslog`."""

    server: str = Field("", description="Address of the server, host:port, over UDP; empty: none.")
    severity: Urgency = Field(Urgency.WARNING, description="Minimum severity: info, warning, critical.")


class SyslogChannel(Channel):
    """Sends the title of a message, and the owner of its job.

    Args:
        server: Address of the server, `host:port`.
        severity: Least severity of the messages that it sends.
    """

    name = "syslog"
    settings = SyslogSettings

    def __init__(self, server: str, severity: Urgency) -> None:
        host, _, port = server.rpartition(":")
        self._address, self.severity = (host, int(port)), severity

    @classmethod
    def from_settings(cls, settings: ChannelSettings) -> Self | None:
        """Return the channel to the server of its section."""
        own: SyslogSettings = settings.section
        return cls(own.server, own.severity) if own.server else None

    def send(self, message: Notification, user: str) -> None:
        """Send it."""
        title = "".join(letter if letter.isprintable() else "?" for letter in message.title)
        text = f"<{PRIORITIES[message.severity]}>schedmate: {title}" + (f" ({user})" if user else "")
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.sendto(text.encode()[:1024], self._address)
        except OSError as error:
            raise ChannelError(
                f"expected {self._address[0]}:{self._address[1]} to accept a message: {error}"
            ) from error
