"""Answers on a Unix socket: a job as one line of JSON in, its estimate as one line out. For what may not wait, such as a submit plugin.

One question at a time, each within milliseconds; whoever connects and says nothing is left after half a second.
"""

import socketserver
from pathlib import Path
from threading import Event

import msgspec

from processors.advise.past import SubmittedJob

from .answers import Answers

LONGEST = 65_536
SILENT_S = 0.5
_POLL_S = 0.5


class _Question(socketserver.StreamRequestHandler):
    timeout = SILENT_S
    server: "AnswerServer"

    def handle(self) -> None:
        try:
            self.wfile.write(self.server.answer(self.rfile.readline(LONGEST)) + b"\n")
        except OSError:
            return


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
        self.timeout = _POLL_S
        while not stop.is_set():
            self.handle_request()
            self.service_actions()
