"""A connection that cannot be made, or that may not do what is asked, says what is wrong."""

import shutil
import ssl
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from streams.kafka import Connection, KafkaConsumer, KafkaProducer, create_topics, list_topics, read_back
from streams.transport import Outgoing, TransportError
from tests.servers.certificates import Authority
from tests.servers.secure_kafka import SecureKafka, secure_kafka

pytestmark = [pytest.mark.kafka]

Change = Callable[[SecureKafka, Connection], Connection]


@pytest.fixture(scope="module")
def broker() -> Iterator[SecureKafka]:
    directory = Path(tempfile.mkdtemp(prefix="secure-kafka-"))
    try:
        with secure_kafka(directory, ["nobody"]) as running:
            create_topics(running.connection, 2, 1)
            yield running
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _other_authority(broker: SecureKafka, connection: Connection) -> Connection:
    return replace(connection, ssl_cafile=str(Authority(broker.directory / "other").cert))


def _foreign_certificate(broker: SecureKafka, _: Connection) -> Connection:
    foreign = Authority(broker.directory / "foreign").sign("worker")
    return replace(broker.by_certificate("x"), ssl_certfile=str(foreign.cert), ssl_keyfile=str(foreign.key))


WRONG: dict[str, tuple[Change, str]] = {
    "password": (lambda _, good: replace(good, sasl_password="x"), "refuses user nobody: wrong user name or password"),
    "user": (lambda _, good: replace(good, sasl_username="x"), "refuses user x: wrong user name or password"),
    "mechanism": (lambda _, good: replace(good, sasl_mechanism="PLAIN"), "does not take passwords by PLAIN"),
    "authority": (_other_authority, "signed by an authority that is not trusted here"),
    "host name": (lambda b, good: replace(good, brokers=(f"localhost:{b.password_port}",)), "is for another host name"),
    "port": (lambda _, good: replace(good, brokers=("127.0.0.1:1",)), "nothing listens at 127.0.0.1:1"),
    "host": (lambda _, good: replace(good, brokers=("no.such.host.invalid:9092",)), "no host has the name"),
    "no TLS": (lambda _, good: replace(good, security_protocol="PLAINTEXT", sasl_mechanism=""), "expect TLS"),
    "TLS": (lambda b, good: replace(good, brokers=(f"127.0.0.1:{b.port}",)), "only one of us uses TLS"),
    "no password": (
        lambda b, good: replace(good, brokers=(f"127.0.0.1:{b.port}",), security_protocol="SASL_PLAINTEXT"),
        "asks for no password on this port",
    ),
    "no certificate": (
        lambda b, good: replace(good, brokers=(f"127.0.0.1:{b.certificate_port}",), security_protocol="SSL", sasl_mechanism=""),
        "wants one and got none",
    ),
    "certificate": (_foreign_certificate, "does not accept our client certificate"),
    "CA file": (lambda _, good: replace(good, ssl_cafile="/nowhere/ca.pem"), "/nowhere/ca.pem"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_connection_that_cannot_be_made_says_what_is_wrong(broker: SecureKafka, what: str) -> None:
    change, said = WRONG[what]
    connection = change(broker, replace(broker.by_password("nobody"), bootstrap_timeout_s=1))
    with pytest.raises(TransportError, match=said) as caught:
        list_topics(connection)
    assert "\n" not in str(caught.value)
    assert broker.by_password("nobody").sasl_password not in str(caught.value)


@pytest.mark.parametrize("what", ["password", "authority"])
def test_producers_and_consumers_say_it_too(broker: SecureKafka, what: str) -> None:
    change, said = WRONG[what]
    connection = change(broker, replace(broker.by_password("nobody"), bootstrap_timeout_s=1))
    with pytest.raises(TransportError, match=said):
        KafkaProducer(connection)
    with pytest.raises(TransportError, match=said):
        KafkaConsumer(connection, "g", ["job-logs"])


def test_who_has_no_right_is_told_so(broker: SecureKafka) -> None:
    nobody = broker.by_password("nobody")
    producer = KafkaProducer(nobody)
    with pytest.raises(TransportError, match="user nobody has no right to write to node-logs"):
        producer.send(Outgoing("node-logs", b"n1", b"{}")).result(20)
    producer.close()
    with pytest.raises(TransportError, match="user nobody has no right to read job-logs"):
        list(read_back(nobody, ["job-logs"]))
    with pytest.raises(TransportError, match="user nobody has no right to read job-logs"):
        KafkaConsumer(nobody, "g", ["job-logs"])
    with pytest.raises(TransportError, match="user nobody has no right to see and create"):
        create_topics(nobody, 1, 1)


def test_a_topic_that_does_not_exist_is_no_lack_of_rights(broker: SecureKafka) -> None:
    producer = KafkaProducer(broker.connection)
    with pytest.raises(
        TransportError, match=r"cannot write to no-such .*does the topic exist \(schedmate topics check\)"
    ):
        producer.send(Outgoing("no-such", b"n1", b"{}")).result(20)
    producer.close()
    with pytest.raises(TransportError, match="expected the topic no-such, which does not exist"):
        list(read_back(broker.connection, ["no-such"]))


def test_a_password_stands_in_no_text_of_a_connection(broker: SecureKafka) -> None:
    connection = broker.by_password("nobody")
    assert connection.sasl_password not in repr(connection)
    assert isinstance(connection.ssl_context(), ssl.SSLContext)
