"""Starting a model server: flags, readiness, signals and early ends.

vLLM is too large to be everywhere, so a small module of the same name stands in for it here; tests/streams/model_worker/test_vllm.py
starts the real one.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schedmate.models.serving import STRUCTURED, Serving
from tests.servers import free_port

STAND_IN = """
import http.server, json, os, pathlib, sys, threading
pathlib.Path(os.environ["SEEN"]).write_text(json.dumps(sys.argv[1:]))
behaviour = os.environ["BEHAVIOUR"]
if behaviour == "dies":
    sys.exit(3)
port = int(next(each for each in sys.argv if each.startswith("--port=")).partition("=")[2])
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        well = self.path == "/health" and behaviour != "never well"
        self.send_response(200 if well else 503)
        self.end_headers()
        if well and behaviour == "ends later":
            threading.Timer(0.2, os._exit, (7,)).start()
    def log_message(self, *_): pass
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""


class Command:
    """`schedmate models serve` on the stand-in."""

    def __init__(self, scratch: Path, behaviour: str, *more: str) -> None:
        package = scratch / "vllm" / "entrypoints" / "openai"
        package.mkdir(parents=True)
        for folder in (scratch / "vllm", package.parent, package):
            (folder / "__init__.py").touch()
        (package / "api_server.py").write_text(STAND_IN)
        self.port, self.seen = free_port(), scratch / "seen.json"
        environment = os.environ | {
            "PYTHONPATH": str(scratch),
            "BEHAVIOUR": behaviour,
            "SEEN": str(self.seen),
            "SCHEDMATE_CONFIG": os.devnull,
            "PYTHONUNBUFFERED": "1",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "schedmate", "models", "serve", "some/model", "--port", str(self.port), *more],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ready(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def end(self) -> tuple[int, str]:
        _, errors = self.process.communicate(timeout=60)
        return self.process.returncode, errors


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_answers_and_passes_signals_on(tmp_path: Path, number: signal.Signals) -> None:
    command = Command(tmp_path, "well", "--name", "mine", "--", "--enforce-eager")
    assert command.ready() == f"ready: http://127.0.0.1:{command.port}/v1"
    pid = command.process.pid
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    command.process.send_signal(number)
    code, errors = command.end()
    assert gone(int(child))
    assert code == 0, errors
    flags = json.loads(command.seen.read_text())
    assert flags == [
        *("--model=some/model", "--served-model-name=mine", "--host=127.0.0.1", f"--port={command.port}"),
        *("--max-model-len=16384", "--seed=0", "--enable-prefix-caching", "--structured-outputs-config", STRUCTURED),
        "--enforce-eager",
    ]


def test_an_end_before_it_answers_is_said(tmp_path: Path) -> None:
    code, errors = Command(tmp_path, "dies").end()
    assert code == 2
    assert "the server ended with exit code 3 before it answered" in errors


def test_a_server_that_never_answers_is_given_up(tmp_path: Path) -> None:
    code, errors = Command(tmp_path, "never well", "--patience", "1").end()
    assert code == 2
    assert "to answer within 1 s" in errors


def test_its_exit_code_is_passed_on(tmp_path: Path) -> None:
    command = Command(tmp_path, "ends later")
    code, _ = command.end()
    assert code == 7


@pytest.mark.parametrize(
    ("host", "url"),
    [("127.0.0.1", "http://127.0.0.1:1/v1"), ("0.0.0.0", "http://127.0.0.1:1/v1"), ("::1", "http://[::1]:1/v1")],
)
def test_the_address_can_be_asked(host: str, url: str) -> None:
    assert Serving("m", "", host, 1, 512, "python").url == url
