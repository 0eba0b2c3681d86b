"""Targets of what language models and their servers answer."""

import contextlib
import json
import tempfile
import threading
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from processors.advise.agent.claims import FIELDS, checked
from processors.advise.agent.prompt import prompt as agent_prompt
from processors.diagnose.failure_question.prompt import Shown, read
from processors.diagnose.failure_question.prompt import prompt as failure_prompt
from processors.formats.answer import read_answer, to_record
from processors.formats.compiled import compile_format
from processors.prompts.quoting import NumberedLine
from processors.prompts.schema import problem
from schedmate_records import Evidence, FailureFacts, FormatQuestion, TemplateSamples
from streams.model_worker.answers import AnswerStore
from streams.model_worker.http_server import HttpModelServer
from streams.model_worker.language_model import ModelError
from tests.streams.model_worker.prompts import PROMPT

from .targets import target, text, write

_LINES = {
    number: Evidence(topic="t", partition=0, offset=0, line=number, text=text)
    for number, text in ((7, "CUDA error"), (9, "exit 1"))
}
_SHOWN = Shown([("", [NumberedLine(number, line.text) for number, line in _LINES.items()])], _LINES)
_FAILURE = failure_prompt(_SHOWN, FailureFacts())
_AGENT = agent_prompt(FIELDS, "python x.py", ["file_tree .\nx.py"], last=False, job="7")
_FORMAT = FormatQuestion(
    fingerprint="f",
    templates=[TemplateSamples(text="step {} loss {}", count=9, lines=["step 1 loss 2.5", "step 2 loss 2.4"])],
)

_ANSWERED: dict[str, Any] = {
    "failed": "yes",
    "error_type": "infrastructure",
    "faulty_component": "gpu",
    "root_line": 7,
    "evidence": [7],
    "restartable": "yes",
    "confidence": "high",
    "summary": "The GPU failed.",
}
_CLAIM = {"field": "lr", "value": "0.1", "path": "x.py", "line": 3}
_EXAMPLES = [
    _ANSWERED,
    {"action": "answer", "path": "", "line": 1, "claims": [_CLAIM, {**_CLAIM, "field": "iters", "value": "9e9"}]},
    {
        "training": "yes",
        "templates": [{"template": 1, "reports": "training"}],
        "columns": [
            {"column": 1, "role": "step", "unit": "none", "steps": 1},
            {"column": 2, "role": "rate", "unit": "steps/s", "steps": 0},
        ],
    },
]


@target(
    "streams/model_worker", "processors/advise/agent", more=lambda: [json.dumps(each).encode() for each in _EXAMPLES]
)
def model_answer(data: bytes) -> None:
    """An answer of a model: outside of its schema it is refused, and inside of it every reader takes it."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return
    if not problem(content, _FAILURE.schema):
        read(content, _SHOWN.places)
    if not problem(content, _AGENT.schema):
        for claim in content["claims"]:
            checked(claim, frozenset(FIELDS), lambda path, line: text(data))
    answer = read_answer(content)  # it takes anything, inside its schema or not
    if answer is not None:
        compile_format(to_record(answer, _FORMAT, author="m", time=1.0))


@target("streams/model_worker/test_answers.py", more=lambda: [b'{"key": ["m", "k", "1", "q"], "answer": {"a": 1}}\n'])
def stored_answers(data: bytes) -> None:
    """The file of answers that were given before."""
    with tempfile.TemporaryDirectory() as place:
        store = AnswerStore(file=write(Path(place) / "answers", data))
        store.put(("m", "k", "1", "q"), {"a": 1})
        assert store.get(("m", "k", "1", "q")) == {"a": 1}


class _Server:
    """A model server that answers every request with the same bytes."""

    def __init__(self) -> None:
        self.answer = b""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"] or 0))
                self.send_response(200)
                self.send_header("Content-Length", str(len(outer.answer)))
                self.end_headers()
                self.wfile.write(outer.answer)

            do_GET = do_POST  # noqa: N815  the name that the standard library calls

            def log_message(self, *_: Any) -> None:
                """Print nothing."""

        server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, name="model server", daemon=True).start()
        self.url = f"http://127.0.0.1:{server.server_port}/v1"


_server = cache(_Server)


@target(
    "streams/model_worker/test_http_server.py",
    more=lambda: [
        b'{"choices": [{"message": {"content": "{\\"class\\": \\"a\\"}"}}]}',
        b'{"data": [{"index": 0, "embedding": "AACAPw=="}]}',
    ],
)
def model_server(data: bytes) -> None:
    """The answer of a model server to a prompt, and to texts whose vectors are wanted."""
    _server().answer = data
    asked = HttpModelServer(_server().url, model="m")
    with contextlib.suppress(ModelError):
        problem(asked.complete(PROMPT, 10.0), PROMPT.schema)
    with contextlib.suppress(ModelError):
        asked.embeddings(["a"], 10.0)
    with contextlib.suppress(ModelError):
        HttpModelServer(_server().url).model(10.0)
