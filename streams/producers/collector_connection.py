"""Sends messages of a pipe to the collector of its node through a Unix socket.

The pipe writes entries as they stand in a spool (`spool.framed` around `envelope.pack`). The collector answers each, in any order, by its
number on this connection, counted from 0: the broker has it, or it is refused for good, with a reason.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import socket
import struct
import threading
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING

from ..producer import Refused
from .envelope import Envelope, Source, pack
from .spool import framed

if TYPE_CHECKING:
    from ..producer import Outgoing

TAKEN, REFUSED = 0, 1
ANSWER = struct.Struct("<QBH")
"""Number of the entry, verdict, and the length of the reason that follows."""
TIMEOUT_SECONDS = 2.0
"""A collector that reads nothing for so long counts as away."""


class CollectorAway(Exception):
    """The collector does not answer. What it was given is sent again on the next connection."""


class CollectorConnection:
    """A producer that hands everything to the collector at `path`.

    Raises:
        OSError: From the constructor, where no collector listens there.
    """

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # Blocking, with a time limit of the kernel's: it waits for a place in the queue, where one of Python's would be refused.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(TIMEOUT_SECONDS), 0))
            self._socket.connect(path)
            self._socket.settimeout(TIMEOUT_SECONDS)
        except BaseException:
            self._socket.close()
            raise
        self._lock = threading.Lock()
        self._sent = 0
        self._open: dict[int, Future[None]] | None = {}
        threading.Thread(target=self._read, name="collector answers", daemon=True).start()

    def send(self, message: Outgoing) -> Future[None]:
        """Hand over `message`; the future is done once the broker has it. Waits while the collector is busy, for a bounded time."""
        done: Future[None] = Future()
        with self._lock:
            if self._open is None:
                done.set_exception(CollectorAway("the collector has closed the connection"))
                return done
            self._open[self._sent] = done
            self._sent += 1
        key = (message.key or b"").decode()
        try:
            self._socket.sendall(framed(pack(Envelope(Source(key), message, 0))))
        except OSError as error:
            self._give_up(f"the collector accepts nothing: {error}")
        return done

    def flush(self, timeout: float) -> None:
        """Nothing is buffered here."""

    def close(self) -> None:
        """Give up what is not acknowledged."""
        self._give_up("closed")

    def _give_up(self, reason: str) -> None:
        with self._lock:
            unanswered, self._open = self._open, None
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        if unanswered is not None:
            self._socket.close()
        for done in (unanswered or {}).values():
            done.set_exception(CollectorAway(reason))

    def _read(self) -> None:
        answers = b""
        while True:
            try:
                data = self._socket.recv(65536)
            except socket.timeout:  # noqa: UP041  another exception before Python 3.10
                continue
            except OSError:
                data = b""
            if not data:
                self._give_up("the collector has closed the connection")
                return
            answers += data
            while len(answers) >= ANSWER.size:
                number, verdict, size = ANSWER.unpack_from(answers)
                if len(answers) < ANSWER.size + size:
                    break
                self._answered(number, verdict, answers[ANSWER.size : ANSWER.size + size].decode("utf-8", "replace"))
                answers = answers[ANSWER.size + size :]

    def _answered(self, number: int, verdict: int, reason: str) -> None:
        with self._lock:
            done = None if self._open is None else self._open.pop(number, None)
        if done is None:
            return
        if verdict == TAKEN:
            done.set_result(None)
        else:
            done.set_exception(Refused(reason))
