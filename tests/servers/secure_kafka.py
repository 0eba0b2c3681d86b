"""A real Kafka broker that asks everybody who they are: TLS with passwords (SCRAM) on one port, with client certificates on another.

An authorizer is on: who has no right by an ACL may do nothing. `ADMIN` may do everything.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from streams.kafka import Connection
from tests.servers import free_port

from .certificates import Authority
from .kafka import Kafka, require_kafka

ADMIN = "admin"

SECURITY = """\
listeners=INSIDE://127.0.0.1:{port},PASSWORD://127.0.0.1:{password},CERTIFICATE://127.0.0.1:{certificate},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=INSIDE://127.0.0.1:{port},PASSWORD://127.0.0.1:{password},CERTIFICATE://127.0.0.1:{certificate}
listener.security.protocol.map=INSIDE:PLAINTEXT,PASSWORD:SASL_SSL,CERTIFICATE:SSL,CONTROLLER:PLAINTEXT
inter.broker.listener.name=INSIDE
sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.password.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
ssl.keystore.type=PEM
ssl.keystore.location={keystore}
ssl.truststore.type=PEM
ssl.truststore.location={authority}
listener.name.certificate.ssl.client.auth=required
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS;User:admin
"""
"""The broker talks to itself on a listener of its own; a test that used it would be nobody in particular, and may do everything."""


@dataclass
class SecureKafka(Kafka):
    """One broker with TLS, users and an authorizer.

    Attributes:
        users: Names of users whose password is `NAME-password`.
        host: The one name that the broker's certificate is valid for.
    """

    users: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    password_port: int = field(default_factory=free_port)
    certificate_port: int = field(default_factory=free_port)

    def __post_init__(self) -> None:
        self.authority = Authority(self.directory / "authority")

    def properties(self) -> str:
        plain = [line for line in super().properties().splitlines() if "listeners=" not in line]
        return "\n".join(plain) + "\n" + SECURITY.format(
            port=self.port,
            password=self.password_port,
            certificate=self.certificate_port,
            controller=self.controller,
            keystore=self.authority.sign("broker", host=self.host).both,
            authority=self.authority.cert,
        )  # fmt: skip

    def format(self, *more: str, cluster: str = "") -> None:
        scram = [f"SCRAM-SHA-512=[name={name},password={password(name)}]" for name in (ADMIN, *self.users)]
        super().format(*more, *(part for each in scram for part in ("--add-scram", each)), cluster=cluster)

    def by_password(self, user: str) -> Connection:
        """Return how `user` reaches the broker with a password."""
        return Connection(
            brokers=(f"127.0.0.1:{self.password_port}",),
            security_protocol="SASL_SSL",
            sasl_mechanism="SCRAM-SHA-512",
            sasl_username=user,
            sasl_password=password(user),
            ssl_cafile=str(self.authority.cert),
            bootstrap_timeout_s=5,
        )

    def by_certificate(self, user: str) -> Connection:
        """Return how whoever holds a certificate for `CN=user` reaches the broker."""
        signed = self.authority.sign(user)
        return Connection(
            brokers=(f"127.0.0.1:{self.certificate_port}",),
            security_protocol="SSL",
            ssl_cafile=str(self.authority.cert),
            ssl_certfile=str(signed.cert),
            ssl_keyfile=str(signed.key),
            bootstrap_timeout_s=5,
        )

    @property
    def connection(self) -> Connection:
        return replace(self.by_password(ADMIN), bootstrap_timeout_s=10)


@contextmanager
def secure_kafka(directory: Path, users: Sequence[str], host: str = "127.0.0.1") -> Iterator[SecureKafka]:
    """Yield a running broker, with its data in `directory`, on which all topics exist and nobody has a right yet."""
    require_kafka()
    broker = SecureKafka(directory, users=tuple(users), host=host)
    broker.format()
    broker.start()
    try:
        yield broker
    finally:
        broker.kill()


def password(user: str) -> str:
    """Return the password of a test's user."""
    return f"{user}-password"


def settings_of(connection: Connection) -> dict[str, str]:
    """Return `connection` as environment variables of the command line."""
    given = {
        "BROKERS": ",".join(connection.brokers),
        "SECURITY": connection.security_protocol,
        "USERNAME": connection.sasl_username,
        "PASSWORD": connection.sasl_password,
        "SSL_CAFILE": connection.ssl_cafile,
        "SSL_CERTFILE": connection.ssl_certfile,
        "SSL_KEYFILE": connection.ssl_keyfile,
    }
    return {f"SCHEDMATE_KAFKA__{name}": value for name, value in given.items() if value}
