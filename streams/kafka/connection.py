"""Connection to a broker."""

import socket
import ssl
from dataclasses import dataclass, field
from typing import Any

from ..transport import TransportError

CLIENT_ID = "schedmate"


@dataclass(frozen=True)
class Connection:
    """Addresses and credentials of a Kafka cluster.

    Attributes:
        brokers: `host:port` of some brokers.
        security_protocol: `PLAINTEXT`, `SSL`, `SASL_PLAINTEXT` or `SASL_SSL`.
        sasl_mechanism: `PLAIN`, `SCRAM-SHA-256` or `SCRAM-SHA-512`; empty without SASL.
        sasl_username: User name for SASL.
        sasl_password: Password for SASL; never shown.
        ssl_cafile: Certificate authority, PEM; empty for the system's own.
        ssl_certfile: Client certificate, PEM.
        ssl_keyfile: Key of the client certificate, PEM.
        bootstrap_timeout_s: How long to look for a broker before giving up.
    """

    brokers: tuple[str, ...] = ("localhost:9092",)
    security_protocol: str = "PLAINTEXT"
    sasl_mechanism: str = ""
    sasl_username: str = ""
    sasl_password: str = field(default="", repr=False)
    ssl_cafile: str = ""
    ssl_certfile: str = ""
    ssl_keyfile: str = ""
    bootstrap_timeout_s: float = 10.0

    def config(self) -> dict[str, Any]:
        """Return the settings that every client of kafka-python takes."""
        chosen: dict[str, Any] = {
            "bootstrap_servers": list(self.brokers),
            "client_id": CLIENT_ID,
            "security_protocol": self.security_protocol,
            "bootstrap_timeout_ms": int(self.bootstrap_timeout_s * 1000),
            "reconnect_backoff_max_ms": 2000,
        }
        for name in ("ssl_cafile", "ssl_certfile", "ssl_keyfile"):
            chosen[name] = getattr(self, name) or None
        if self.sasl_mechanism:
            chosen |= {
                "sasl_mechanism": self.sasl_mechanism,
                "sasl_plain_username": self.sasl_username,
                "sasl_plain_password": self.sasl_password,
            }
        return chosen

    def problems(self, timeout_s: float = 1.0) -> list[str]:
        """Return what is wrong, for a health check: that none of the brokers takes a connection."""
        for broker in self.brokers:
            host, _, port = broker.rpartition(":")
            try:
                socket.create_connection((host.strip("[]"), int(port)), timeout_s).close()
            except (OSError, ValueError):
                continue
            return []
        return [f"no Kafka broker accepts a connection at {','.join(self.brokers)}"]

    def ssl_context(self) -> ssl.SSLContext | None:
        """Return the TLS context that Faust takes; None without TLS."""
        if "SSL" not in self.security_protocol.split("_"):
            return None
        try:
            context = ssl.create_default_context(cafile=self.ssl_cafile or None)
            if self.ssl_certfile:
                context.load_cert_chain(self.ssl_certfile, self.ssl_keyfile or None)
        except OSError as error:
            files = ", ".join(filter(None, (self.ssl_cafile, self.ssl_certfile, self.ssl_keyfile)))
            raise TransportError(f"expected readable certificates and keys, PEM, in {files}: {error}") from error
        return context
