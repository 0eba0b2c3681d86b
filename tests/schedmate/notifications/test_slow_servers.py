"""Servers of messages that answer too slowly are cut off."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from schedmate.notifications.channel import ChannelError
from schedmate.notifications.email import EmailChannel
from schedmate.notifications.message import Notification
from schedmate.notifications.urgency import Urgency
from schedmate.notifications.webhook import WebhookChannel
from schedmate_records import EventKind, JobEvent
from tests.scheduler_bridge.findings import NOW

OWNER = JobEvent(id="e", job="1", kind=EventKind.STARTED, time=NOW, user="ada")
NOTICE = Notification("k", Urgency.WARNING, "title", ("line",), (), {}, OWNER)


def limit(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Set the time limit of one message."""
    for module in ("posting", "email"):
        monkeypatch.setattr(f"schedmate.notifications.{module}.TIMEOUT_S", seconds)


@pytest.fixture
def dripping() -> Iterator[int]:
    """A server that answers one byte at a time and never ends a line; its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        stop = threading.Event()

        def drip() -> None:
            with contextlib.suppress(OSError):
                while True:
                    peer, _ = server.accept()
                    with peer, contextlib.suppress(OSError):
                        while not stop.wait(0.01):
                            peer.sendall(b"2")

        threading.Thread(target=drip, daemon=True).start()
        yield server.getsockname()[1]
        stop.set()


@pytest.mark.parametrize("kind", ["http", "https", "mail"])
def test_a_server_that_drips_is_cut_off(dripping: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, 0.3)
    address = f"127.0.0.1:{dripping}"
    channel = EmailChannel(address, "a@b", ("c@d",)) if kind == "mail" else WebhookChannel(f"{kind}://{address}/hook")
    with pytest.raises(
        ChannelError, match=rf"expected {address} to .*within 0.3 s|no answer within 0.3 s|record layer|SSL"
    ):
        channel.send(NOTICE, "ada")


def test_a_proxy_that_drips_is_cut_off(dripping: int, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, 0.3)
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{dripping}")
    with pytest.raises(ChannelError, match=r"within 0\.3 s"):
        WebhookChannel("https://hooks.example.org/hook").send(NOTICE, "ada")


def test_the_body_of_an_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, 20.0)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with server.accept()[0] as peer:
                peer.recv(65536)
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n1")
                peer.recv(65536)

        threading.Thread(target=answer, daemon=True).start()
        WebhookChannel(f"http://127.0.0.1:{server.getsockname()[1]}/hook").send(NOTICE, "ada")


def test_a_tls_server_that_says_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, 0.3)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(ChannelError, match=r"within 0\.3 s|timed out"),
    ):
        WebhookChannel(f"https://127.0.0.1:{server.getsockname()[1]}/hook").send(NOTICE, "ada")
