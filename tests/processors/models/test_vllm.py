"""A real vLLM server whose model has random weights: all that it says is nonsense inside the schema, and nothing gets worse by it."""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from processors.models.failure_review import question as about_lines
from processors.models.pool import Limits, ModelPool
from processors.models.quoting import NumberedLine
from processors.models.server import ModelServer, ServerRefused
from processors.models.template_reading import question as about_template
from records import Evidence, Sample
from tests.processors.models.made_up_logs import FAILURES, PROGRESS
from tests.processors.models.questions import QUESTION
from tests.servers.vllm import ROOT, VllmServer

pytestmark = [pytest.mark.vllm, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def pool(vllm_server: VllmServer) -> ModelPool:
    limits = Limits(timeout_s=120, total_s=240, attempts=1, per_job_hour=1000, per_hour=1000)
    return ModelPool([ModelServer(vllm_server.url)], limits)


def numbered(lines: list[str]) -> list[NumberedLine]:
    return [NumberedLine(number, text) for number, text in enumerate(lines, start=1)]


def sample(text: str) -> Sample:
    return Sample(line=Evidence(topic="job-logs", partition=0, offset=0, line=1, text=text), time=0.0)


def test_the_command_that_checks_servers_finds_it_well(vllm_server: VllmServer) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "schedmate", "--set", f"language_model.servers={vllm_server.url}", "models", "check"],
        capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ | {"SCHEDMATE_CONFIG": os.devnull},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "model random answered inside the schema" in done.stdout


def test_every_answer_lies_inside_its_schema(pool: ModelPool) -> None:
    questions = [about_template([sample(line) for line in one.lines]) for one in PROGRESS]
    questions += [about_lines(numbered(lines), "j") for lines, _ in FAILURES.values()]
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda asked: asked and pool.ask(asked), questions))
    assert None not in answers
    assert (pool.counters.outside_schema, pool.counters.failed) == (0, 0)
    assert len({str(answer and answer.content) for answer in answers}) > 3, "it is not one answer for all"


def test_a_question_that_does_not_fit_is_refused_at_once(vllm_server: VllmServer, pool: ModelPool) -> None:
    asked = dataclasses.replace(QUESTION, data="word " * 20_000)
    with pytest.raises(ServerRefused, match="400"):
        ModelServer(vllm_server.url).complete(asked, 60)
    assert pool.ask(asked) is None
    assert pool.counters.retries == 0


def test_a_time_limit_holds_and_the_server_serves_on(vllm_server: VllmServer, pool: ModelPool) -> None:
    hasty = ModelPool(
        [ModelServer(vllm_server.url, "random")], Limits(timeout_s=0.01, total_s=5, attempts=2, pause_s=0.01)
    )
    assert hasty.ask(QUESTION) is None
    assert hasty.counters.failed == 1
    assert pool.ask(QUESTION) is not None


def test_the_command_ends_its_server(vllm_server: VllmServer) -> None:
    """Stands last: the server is gone after it."""
    children = Path(f"/proc/{vllm_server.process.pid}/task/{vllm_server.process.pid}/children").read_text().split()
    assert children
    assert vllm_server.stop() == 0
    deadline = time.monotonic() + 30
    while any(alive(int(child)) for child in children):
        assert time.monotonic() < deadline, "the server outlived its command"
        time.sleep(0.1)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIG_DFL)  # signal 0: asks, and sends nothing
    except ProcessLookupError:
        return False
    return True
