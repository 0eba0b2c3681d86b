"""Time limits of whole exchanges. A socket's own timeout begins anew with every byte, so a peer that sends slowly never meets it."""

import contextlib
import http.client
import smtplib
import socket
import ssl
import threading
from types import TracebackType
from typing import Any, Self


class Deadline:
    """Shuts sockets down when a time has passed. Use it as a context manager around one exchange.

    Args:
        seconds: Seconds that the exchange may take.

    Attributes:
        expired: True once the time has passed.
    """

    def __init__(self, seconds: float) -> None:
        self.expired = False
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self._expire)
        self._timer.daemon = True

    def watch(self, connected: socket.socket) -> None:
        """Shut `connected` down too. A copy is kept, because TLS takes the socket itself over."""
        with self._lock:
            self._sockets.append(connected.dup())
        if self.expired:
            self._expire()

    def _expire(self) -> None:
        self.expired = True
        with self._lock:
            for each in self._sockets:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            for each in self._sockets:
                each.close()
            self._sockets.clear()


class _Watched:
    """A connection that gives its socket to a deadline as soon as there is one: before the handshake with a proxy or TLS."""

    _deadline: Deadline
    _sock: socket.socket | None = None

    @property
    def sock(self) -> Any:
        return self._sock

    @sock.setter
    def sock(self, value: Any) -> None:
        self._sock = value
        if value is not None and not isinstance(value, ssl.SSLSocket):
            self._deadline.watch(value)


class HTTPConnection(_Watched, http.client.HTTPConnection):
    """`http.client.HTTPConnection` within a deadline."""

    def __init__(self, deadline: Deadline, *args: Any, **options: Any) -> None:
        self._deadline = deadline
        super().__init__(*args, **options)


class HTTPSConnection(_Watched, http.client.HTTPSConnection):
    """`http.client.HTTPSConnection` within a deadline."""

    def __init__(self, deadline: Deadline, *args: Any, **options: Any) -> None:
        self._deadline = deadline
        super().__init__(*args, **options)


class SMTP(_Watched, smtplib.SMTP):
    """`smtplib.SMTP` within a deadline."""

    def __init__(self, deadline: Deadline, *args: Any, **options: Any) -> None:
        self._deadline = deadline
        super().__init__(*args, **options)
