"""A server with the protocol of vLLM's OpenAI API that answers questions about failures from recorded answers.

It finds the log that a question is about by the numbered lines that the question shows.
"""

import contextlib
import json
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from processors.prompts.quoting import harmless
from schedmate_records import QuestionKind

from .recorded_failures import closed_answer

MODEL = "recorded"

Answers = Callable[[str, Mapping[str, Any]], Mapping[str, Any] | None]
"""Returns the answer to the data of a prompt, inside a schema; None for none."""


class RecordedAnswers:
    """Recorded answers about stored logs, by the numbered lines of the logs.

    Args:
        file: JSON lines, each with the name of a log in `file` and an answer in the words of the labels.
        folders: Where the logs are. Logs of the same name are distinguished by the answer's `folder`.
    """

    def __init__(self, file: Path, folders: Sequence[Path]) -> None:
        recorded = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        self._answers = {(each.get("folder", ""), each["file"]): each for each in recorded}
        self._logs: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for folder in folders:
            for path in sorted(folder.glob("*.log")):
                key = next((key for key in ((folder.name, path.name), ("", path.name)) if key in self._answers), None)
                if key:
                    self._index(key, path.read_bytes().decode("utf-8", "replace").split("\n"))

    def _index(self, key: tuple[str, str], lines: Sequence[str]) -> None:
        for number, line in enumerate(lines, start=1):
            for text in line.rstrip("\r").split("\r"):
                self._logs[f"{number}: {harmless(text)}"].add(key)

    def __call__(self, data: str, schema: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the answer about the log that most lines of `data` are of."""
        found: Counter[tuple[str, str]] = Counter()
        for line in data.split("\n"):
            for key in self._logs.get(line, ()):
                found[key] += 1
        return closed_answer(self._answers[found.most_common(1)[0][0]], schema) if found else None


@contextlib.contextmanager
def replaying(file: Path, folders: Sequence[Path]) -> Iterator[str]:
    """Serve the recorded answers in `file` about the logs in `folders` on loopback; yield the address."""
    with serving(RecordedAnswers(file, folders)) as url:
        yield url


@contextlib.contextmanager
def serving(answers: Answers) -> Iterator[str]:
    """Serve `answers` on loopback; yield the address. A question of another kind is refused."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, {"data": [{"id": MODEL}]})

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            form = asked["response_format"]["json_schema"]
            content = None
            if form["name"] == QuestionKind.FAILURE:
                content = answers(asked["messages"][-1]["content"], form["schema"])
            if content is None:
                self._send(400, {"error": {"message": "expected a question about a recorded log"}})
            else:
                self._send(200, {"choices": [{"message": {"content": json.dumps(content)}}]})

        def _send(self, status: int, body: Mapping[str, Any]) -> None:
            encoded = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(encoded)))
            self.end_headers()
            self.wfile.write(encoded)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
