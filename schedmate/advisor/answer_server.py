"""Answers on a Unix socket: a job as one line of JSON in, its estimate as one line out. For what may not wait, such as a submit plugin.

One question at a time, each within milliseconds. A client that has not asked within half a second is dropped.
"""

import socket
import socketserver
import time
from pathlib import Path
from threading import Event

import msgspec

from processors.advise.past import SubmittedJob

from .answers import Answers

LONGEST = 65_536  # bytes of a question
SILENT_S = 0.5  # seconds for a client to ask; the others wait meanwhile


class _Question(socketserver.BaseRequestHandler):
    server: "AnswerServer"
    request: socket.socket

    def handle(self) -> None:
        try:
            line = self._line(time.monotonic() + SILENT_S)
            self.request.settimeout(SILENT_S)
            self.request.sendall(self.server.answer(line) + b"\n")
        except OSError:
            return

    def _line(self, until: float) -> bytes:
        """Return what came up to a newline. Raises `TimeoutError`: others wait, however slowly somebody goes on."""
        line = bytearray()
        while b"\n" not in line and len(line) < LONGEST:
            self.request.settimeout(max(until - time.monotonic(), 1e-3))
            part = self.request.recv(LONGEST)
            if not part:
                break
            line += part
            if time.monotonic() > until:
                raise TimeoutError
        return bytes(line[:LONGEST].partition(b"\n")[0])


class AnswerServer(socketserver.UnixStreamServer):
    """Listens at a path; its owner and group may ask. A socket that a former one left there is replaced.

    Args:
        path: The socket.
        answers: What is asked.
    """

    request_queue_size = 64

    def __init__(self, path: Path, answers: Answers) -> None:
        if path.is_socket():
            path.unlink()
        self._answers = answers
        super().__init__(str(path), _Question)
        path.chmod(0o660)

    def answer(self, line: bytes) -> bytes:
        """Return the estimate of a question as JSON, or what was expected."""
        try:
            job = msgspec.json.decode(line.decode(errors="replace"), type=SubmittedJob)
        except (msgspec.DecodeError, RecursionError) as error:
            return msgspec.json.encode({"error": f"expected a job as one line of JSON: {error}"})
        return msgspec.json.encode(self._answers.estimate(job))

    def service_actions(self) -> None:
        """Between questions: see what ended since."""
        self._answers.refresh()

    def run(self, stop: Event) -> None:
        """Answer until `stop` is set."""
        # Seconds between looks for the end of the service.
        self.timeout = 0.5
        while not stop.is_set():
            self.handle_request()
            self.service_actions()
