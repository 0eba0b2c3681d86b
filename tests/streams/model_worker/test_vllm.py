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

from processors.diagnose.failure_question.prompt import Shown
from processors.diagnose.failure_question.prompt import prompt as about_failure
from processors.diagnose.failure_question.table import LIKELY
from processors.formats.question import format_prompt
from processors.prompts.quoting import NumberedLine
from schedmate_records import ErrorType, Evidence, Failure, FailureFacts, FormatQuestion, TemplateSamples
from streams.model_worker.http_server import HttpModelServer, PromptRefused
from streams.model_worker.pool import ModelLimits, ModelPool
from tests.metric_values import value
from tests.servers.vllm import ROOT, VllmServer

from .made_up_logs import FAILURES, INSTRUCTIONS, PROGRESS, Progress
from .prompts import PROMPT
from .running import input_of, replay, run

pytestmark = [pytest.mark.vllm, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def pool(vllm_server: VllmServer) -> ModelPool:
    limits = ModelLimits(timeout_s=120, total_s=240, attempts=1, per_job_hour=1000, per_hour=1000)
    return ModelPool([HttpModelServer(vllm_server.url)], limits)


def shown(lines: list[str]) -> Shown:
    numbered = [NumberedLine(number, text) for number, text in enumerate(lines, start=1)]
    places = {
        each.number: Evidence(topic="t", partition=0, offset=0, line=each.number, text=each.text) for each in numbered
    }
    return Shown([("", numbered)], places)


def about_format(log: Progress) -> FormatQuestion:
    shown = TemplateSamples(text=log.name, count=len(log.lines), lines=list(log.lines[:3]))
    return FormatQuestion(fingerprint=log.name, templates=[shown], head=list(log.lines[:8]), tail=list(log.lines[-8:]))


def test_the_command_that_checks_servers_finds_it_well(vllm_server: VllmServer) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "schedmate", "--set", f"language_model.servers={vllm_server.url}", "models", "check"],
        capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ | {"SCHEDMATE_CONFIG": os.devnull},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "model random answered inside the schema" in done.stdout


def test_every_answer_lies_inside_its_schema(pool: ModelPool) -> None:
    questions = [format_prompt(about_format(one)) for one in PROGRESS]
    questions += [about_failure(shown(lines), FailureFacts(), "j") for lines, _ in FAILURES.values()]
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(pool.ask, questions))
    assert None not in answers
    assert (value(pool.metrics.outside_schema), value(pool.metrics.failed)) == (0, 0)
    assert len({str(answer and answer.content) for answer in answers}) > 3, "it is not one answer for all"


@pytest.mark.parametrize("log", PROGRESS, ids=lambda one: one.name)
def test_a_worker_that_asks_it_gives_no_wrong_number(pool: ModelPool, log: Progress) -> None:
    records = input_of(log.lines, log.times, 0)
    plain, ran = run(records, None), run(records, pool)
    with_model = {each.id: each for each in ran.metrics}
    for before in plain.metrics:
        after = with_model[before.id]
        if before.step_time_s is not None:
            assert after.step_time_s == before.step_time_s
        assert all(getattr(before, each) in (None, getattr(after, each)) for each in ("step", "loss"))
    for each in ran.metrics:
        if each.method == "model" and each.step_time_s is not None:
            assert each.step_time_s == pytest.approx(log.step_time_s, rel=0.35)
    assert (ran.failures, ran.slowdowns) == (plain.failures, plain.slowdowns)
    assert ran.records("dead-letters") == []
    assert value(pool.metrics.answered) == len(ran.formats) == value(pool.metrics.asked) <= 1


@pytest.mark.parametrize("name", FAILURES)
def test_a_worker_that_asks_it_harms_no_verdict(pool: ModelPool, name: str) -> None:
    lines, code = FAILURES[name]
    records = input_of(lines, [1000 + place / 10 for place in range(len(lines))], code)
    plain, ran = run(records, None), run(records, pool)
    assert value(pool.metrics.answered) >= 1
    assert any(each.failure for each in ran.answers)
    unharmed(plain.failures, ran.failures)
    assert replay(ran).results() == ran.results()


@pytest.mark.parametrize("text", INSTRUCTIONS)
@pytest.mark.parametrize("name", ["a lost GPU", "a full disk", "something odd"])
def test_a_log_that_gives_the_model_instructions_changes_nothing(pool: ModelPool, name: str, text: str) -> None:
    lines, code = FAILURES[name]
    at = len(lines) // 2
    lines = [*lines[:at], *text.split("\n"), *lines[at:]]
    records = input_of(lines, [1000 + place / 10 for place in range(len(lines))], code)
    plain, ran = run(records, None), run(records, pool)
    assert value(pool.metrics.answered) >= 1
    unharmed(plain.failures, ran.failures)
    named = {line.line for answer in ran.answers for line in answer.lines}
    assert named <= set(range(1, len(lines) + 1))


def unharmed(before: list[Failure], after: list[Failure]) -> None:
    """Fail unless certain verdicts are as they were without a model, and the last verdict says nothing else where it said something."""
    certain = [each for each in before if each.confidence >= LIKELY]
    assert [(each.id, each.error_type, each.root) for each in after if each.confidence >= LIKELY] == [
        (each.id, each.error_type, each.root) for each in certain
    ]
    first, last = before[-1], after[-1]
    if first.confidence >= LIKELY:
        assert last == first
    if first.error_type is not ErrorType.UNKNOWN:
        assert (last.error_type, last.root, last.signature) == (first.error_type, first.root, first.signature)
    if first.restartable is not None:
        assert last.restartable is first.restartable


def test_a_question_that_does_not_fit_is_refused_at_once(vllm_server: VllmServer, pool: ModelPool) -> None:
    asked = dataclasses.replace(PROMPT, data="word " * 20_000)
    with pytest.raises(PromptRefused, match="400"):
        HttpModelServer(vllm_server.url).complete(asked, 60)
    assert pool.ask(asked) is None
    assert value(pool.metrics.retries) == 0


def test_a_time_limit_holds_and_the_server_serves_on(vllm_server: VllmServer, pool: ModelPool) -> None:
    hasty = ModelPool(
        [HttpModelServer(vllm_server.url, "random")], ModelLimits(timeout_s=0.01, total_s=5, attempts=2, pause_s=0.01)
    )
    assert hasty.ask(PROMPT) is None
    assert value(hasty.metrics.failed) == 1
    assert pool.ask(PROMPT) is not None


def test_the_command_ends_its_server(vllm_server: VllmServer) -> None:
    """Stands last: the server is gone after it."""
    children = Path(f"/proc/{vllm_server.process.pid}/task/{vllm_server.process.pid}/children").read_text().split()
    assert children
    assert vllm_server.stop() == 0
    deadline = time.monotonic() + 30
    while any(alive(int(child)) for child in children):
        assert time.monotonic() < deadline, "the server dismissed its command"
        time.sleep(0.1)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIG_DFL)  # signal 0: asks, and sends nothing
    except ProcessLookupError:
        return False
    return True
