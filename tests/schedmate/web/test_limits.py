"""Requests that come slowly, or never to an end, are cut off, and leave room for others."""

import socket
import threading
import urllib.request
from collections.abc import Iterator

import pytest

from schedmate.web import protocol
from tests.servers.web import web_server
from tests.sinks.conftest import Embedded, embedded

__all__ = ["embedded"]

HEAD = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


@pytest.fixture
def page(embedded: Embedded) -> Iterator[str]:
    with web_server(embedded.connect, {}) as address:
        yield address


def connect(page: str) -> socket.socket:
    host, _, port = page.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=60)


def is_cut_off(connection: socket.socket) -> bool:
    """Wait until the page ends the connection."""
    try:
        while connection.recv(4096):
            pass
    except ConnectionError:
        pass
    return True


def drip(connection: socket.socket, stop: threading.Event) -> None:
    try:
        while not stop.wait(0.01):
            connection.sendall(b"x")
    except OSError:
        return


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET",
        HEAD,
        HEAD.replace(b"/health", b"/decisions"),
        HEAD.replace(b"/health", b"/health HTTP/1.1\r\n\r\nGET /"),
        b"POST /act HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9999\r\n\r\n",
    ],
)
@pytest.mark.parametrize("drips", [False, True])
def test_a_request_that_has_no_end_is_cut_off(
    page: str, sent: bytes, drips: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "REQUEST_S", 0.3)
    stop = threading.Event()
    with connect(page) as connection:
        connection.sendall(sent)
        if drips:
            threading.Thread(target=drip, args=(connection, stop), daemon=True).start()
        assert is_cut_off(connection)
        stop.set()


def test_a_second_request_of_a_connection_is_limited_too(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "REQUEST_S", 0.3)
    with connect(page) as connection:
        connection.sendall(HEAD + b"x\r\n\r\n")
        assert connection.recv(12) == b"HTTP/1.1 200"
        connection.sendall(HEAD)
        assert is_cut_off(connection)


def test_half_open_requests_leave_room_for_others(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "MOST_CONNECTIONS", 20)
    waiting = [connect(page) for _ in range(60)]
    for each in waiting:
        each.sendall(HEAD)
    with urllib.request.urlopen(f"{page}/health", timeout=60) as answer:
        assert answer.status == 200
    assert sum(_is_closed(each) for each in waiting) >= 40
    for each in waiting:
        each.close()


def _is_closed(connection: socket.socket) -> bool:
    connection.settimeout(0.01)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True
