"""What long-running commands log of other packages, and where it goes."""

import io
import logging
import ssl
from collections.abc import Iterator
from contextlib import redirect_stderr

import pytest
import structlog

from schedmate.services.logging import ClientFilter, configure
from schedmate.settings.settings import ServiceSettings

AWAY = "Connection failed: KafkaConnectionError: 111 ECONNREFUSED"
REFUSED = "Authentication failed for user pipe"


def entry(name: str, line: int, text: str = REFUSED, level: int = logging.ERROR) -> logging.LogRecord:
    return logging.LogRecord(name, level, "client.py", line, text, None, None)


def raised(error: Exception, line: int) -> logging.LogRecord:
    return logging.LogRecord(
        "kafka.net", logging.ERROR, "net.py", line, "it failed", None, (type(error), error, error.__traceback__)
    )


def test_that_a_broker_is_away_is_not_said_by_clients() -> None:
    clients = ClientFilter(("kafka",))
    assert not clients.filter(entry("kafka.net.manager", 1, AWAY))
    assert not clients.filter(entry("kafka.net.manager", 2, REFUSED, logging.WARNING))


def test_a_bug_of_a_client_and_a_refusal_are_said_once_in_a_while() -> None:
    now = [0.0]
    clients = ClientFilter(("kafka",), every_s=30, clock=lambda: now[0])
    assert clients.filter(entry("kafka.net", 1))
    assert not clients.filter(entry("kafka.net", 1))
    assert clients.filter(entry("kafka.net", 2)), "another place has its own turn"
    now[0] = 30
    assert clients.filter(entry("kafka.net", 1))
    assert clients.filter(raised(KeyError("nobody expects this"), 9))
    assert not clients.filter(raised(ConnectionResetError(104, "Connection reset by peer"), 10))
    assert clients.filter(raised(ssl.SSLError(1, "certificate verify failed"), 11))


def test_other_packages_are_never_silenced() -> None:
    clients = ClientFilter(("kafka",))
    assert all(clients.filter(entry("kafkaesque", 1, AWAY)) for _ in range(3))


@pytest.fixture
def _restored() -> Iterator[None]:
    """The configuration of the logging of this process, restored afterwards."""
    handlers, before = logging.getLogger().handlers, structlog.get_config()
    yield
    logging.getLogger().handlers = handlers
    structlog.configure(**before)


@pytest.mark.usefixtures("_restored")
def test_log_goes_to_the_present_standard_error_after_the_former_was_closed() -> None:
    with io.StringIO() as former, redirect_stderr(former):
        configure(ServiceSettings())
    with io.StringIO() as present, redirect_stderr(present):
        structlog.get_logger("test").warning("of_structlog")
        logging.getLogger("test").warning("of_logging")
        shown = present.getvalue()
    assert "of_structlog" in shown
    assert "of_logging" in shown
    assert "Logging error" not in shown
