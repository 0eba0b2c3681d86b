"""An HTTP server on loopback that behaves as badly as real model servers do on bad days, or well. It is no model server."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "stand-in"

Behaviour = Callable[["Exchange"], None]


class Exchange(BaseHTTPRequestHandler):
    """One request; behaviours write what they like into it."""

    server: "MisbehavingServer"

    def do_GET(self) -> None:
        self.say(200, json.dumps({"data": [{"id": MODEL}]}))

    def do_POST(self) -> None:
        self.asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append(self.asked)
            self.server.headers.append(dict(self.headers))
            self.server.under_way += 1
            self.server.most = max(self.server.most, self.server.under_way)
            behaviour = self.server.next()
        try:
            behaviour(self)
        finally:
            with self.server.lock:
                self.server.under_way -= 1

    def say(self, status: int, body: str, **headers: str) -> None:
        with contextlib.suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body.encode())))
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


class MisbehavingServer(ThreadingHTTPServer):
    """Plays behaviours one after the other; the last one goes on."""

    daemon_threads = True

    def __init__(self, *behaviours: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.lock = threading.Lock()
        self.behaviours = list(behaviours)
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.under_way = self.most = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def next(self) -> Behaviour:
        return self.behaviours.pop(0) if len(self.behaviours) > 1 else self.behaviours[0]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error here."""


@contextlib.contextmanager
def misbehaving(*behaviours: Behaviour) -> Iterator[MisbehavingServer]:
    server = MisbehavingServer(*behaviours)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def completion(content: str) -> str:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]})


def answers(content: Any) -> Behaviour:
    text = content if isinstance(content, str) else json.dumps(content)
    return lambda exchange: exchange.say(200, completion(text))


def status(code: int, **headers: str) -> Behaviour:
    return lambda exchange: exchange.say(code, '{"error": "made up"}', **headers)


def says(body: str) -> Behaviour:
    return lambda exchange: exchange.say(200, body)


def silent(exchange: Exchange) -> None:
    """Accepts, and says nothing until the other end gives up."""
    exchange.connection.settimeout(20)
    with contextlib.suppress(OSError):
        exchange.connection.recv(1)


def hangs_up(exchange: Exchange) -> None:
    exchange.connection.shutdown(socket.SHUT_RDWR)


def hangs_up_in_the_middle(exchange: Exchange) -> None:
    body = completion('{"class": "a"}').encode()
    exchange.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body[: len(body) // 2]))
    exchange.wfile.flush()
    exchange.connection.shutdown(socket.SHUT_RDWR)


def drips(exchange: Exchange) -> None:
    """Sends a header, byte by byte, each in time for a socket's own time-out and never done."""
    with contextlib.suppress(OSError):
        exchange.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        for _ in range(400):
            exchange.wfile.write(b"x")
            exchange.wfile.flush()
            time.sleep(0.05)


def after(seconds: float, then: Behaviour) -> Behaviour:
    def behave(exchange: Exchange) -> None:
        time.sleep(seconds)
        then(exchange)

    return behave
