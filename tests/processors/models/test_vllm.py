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

from processors.job import JobProcessor
from processors.models.failure_review import FailureReviewer
from processors.models.failure_review import question as about_lines
from processors.models.pool import Limits, ModelPool
from processors.models.quoting import NumberedLine
from processors.models.revision import CERTAIN
from processors.models.server import ModelServer, ServerRefused
from processors.models.template_check import completed, confirmed
from processors.models.template_reading import Sample, read_template
from processors.models.template_reading import question as about_template
from processors.state import JobState
from records import ErrorType, EventKind, Evidence, Failure, JobEvent, JobMetric, LogChunk, Position
from tests.processors.models.made_up_logs import FAILURES, INSTRUCTIONS, PROGRESS, Progress
from tests.processors.models.questions import QUESTION
from tests.servers.vllm import ROOT, VllmServer

pytestmark = [pytest.mark.vllm, pytest.mark.slow, pytest.mark.timeout(600)]

AT = Position("model-answers", 0, 0)


@pytest.fixture
def pool(vllm_server: VllmServer) -> ModelPool:
    limits = Limits(timeout_s=120, total_s=240, attempts=1, per_job_hour=1000, per_hour=1000)
    return ModelPool([ModelServer(vllm_server.url)], limits)


def results(lines: list[str], times: list[float], exit_code: int) -> tuple[JobMetric | None, Failure | None]:
    """Return what the processors say of a log without any model."""
    processor, state = JobProcessor(), JobState(job="j")
    chunk = LogChunk(
        job="j",
        lines=lines,
        first_line=1,
        first_piece=1,
        time=times[0],
        after_ms=[round(1000 * (t - times[0])) for t in times],
    )
    made = processor.process(state, Position("job-logs", 0, 0), chunk)
    ended = JobEvent(id="e", job="j", kind=EventKind.ENDED, time=times[-1] + 1, exit_code=exit_code, scheduler="local")
    made += processor.process(state, Position("job-events", 0, 0), ended)
    metrics = [one for one in made if isinstance(one, JobMetric)]
    failures = [one for one in made if isinstance(one, Failure)]
    return metrics[-1] if metrics else None, failures[-1] if failures else None


def numbered(lines: list[str]) -> list[NumberedLine]:
    return [NumberedLine(number, text) for number, text in enumerate(lines, start=1)]


def evidence(line: NumberedLine) -> Evidence:
    return Evidence(topic="job-logs", partition=0, offset=0, line=line.number, text=line.text)


def verdict(lines: list[str], exit_code: int) -> Failure:
    found = results(lines, [1000 + number / 10 for number in range(len(lines))], exit_code)[1]
    assert found is not None
    return found


def test_the_command_that_checks_servers_finds_it_well(vllm_server: VllmServer) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "schedmate", "--set", f"language_model.servers={vllm_server.url}", "models", "check"],
        capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ | {"SCHEDMATE_CONFIG": os.devnull},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "model random answered inside the schema" in done.stdout


def test_every_answer_lies_inside_its_schema(pool: ModelPool) -> None:
    questions = [about_template([Sample(line, 0) for line in one.lines]) for one in PROGRESS]
    questions += [about_lines(numbered(lines), "j") for lines, _ in FAILURES.values()]
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda asked: asked and pool.ask(asked), questions))
    assert None not in answers
    assert (pool.counters.outside_schema, pool.counters.failed) == (0, 0)
    assert len({str(answer and answer.content) for answer in answers}) > 3, "it is not one answer for all"


@pytest.mark.parametrize("log", PROGRESS, ids=lambda one: one.name)
def test_nonsense_makes_no_number_wrong(pool: ModelPool, log: Progress) -> None:
    samples = [Sample(line, time) for line, time in zip(log.lines, log.times, strict=True)]
    read = read_template(pool, samples, "j")
    assert pool.counters.answered == 1
    kept = confirmed(read, samples) if read else None
    without, _ = results(list(log.lines), list(log.times), 0)
    if kept is None:
        return  # nothing is used of the answer: the tracker's record stays as it is
    if without is not None:
        new = completed(without, kept)
        assert all(getattr(without, each) in (None, getattr(new, each)) for each in ("step", "step_time_s", "loss"))
    assert kept.step == log.step
    assert kept.step_time_s == pytest.approx(log.step_time_s, rel=0.35)


@pytest.mark.parametrize("name", FAILURES)
def test_nonsense_harms_no_verdict(pool: ModelPool, name: str) -> None:
    lines, code = FAILURES[name]
    first = verdict(lines, code)
    reviewer = FailureReviewer(pool)
    for part in range(4):  # several windows: several answers
        shown = numbered(lines)[part * 7 :]
        unharmed(first, reviewer.review(first, shown, AT, evidence), {each.number for each in shown})
    assert reviewer.counters.answered >= 2


def unharmed(first: Failure, second: Failure | None, shown: set[int]) -> None:
    if first.confidence >= CERTAIN:
        assert second is None
    if second is None:
        return
    assert second.confidence < CERTAIN, "no action follows from what a model says"
    if first.error_type is not ErrorType.UNKNOWN:
        assert second.error_type is first.error_type
        assert second.root == first.root
    if first.restartable is not None:
        assert second.restartable is first.restartable
    assert {one.line for one in second.evidence} <= shown | {one.line for one in first.evidence}


@pytest.mark.parametrize("text", INSTRUCTIONS)
@pytest.mark.parametrize("name", ["a lost GPU", "a bug", "a full disk"])
def test_a_log_that_gives_the_model_instructions_changes_nothing(pool: ModelPool, name: str, text: str) -> None:
    lines, code = FAILURES[name]
    plain = verdict(lines, code)
    at = len(lines) // 2
    lines = [*lines[:at], *text.split("\n"), *lines[at:]]
    first = verdict(lines, code)
    reviewer = FailureReviewer(pool)
    second = reviewer.review(first, numbered(lines), AT, evidence)
    assert reviewer.counters.answered == 1
    unharmed(first, second, set(range(1, len(lines) + 1)))
    last = second or first
    assert (last.error_type, last.faulty_component, last.signature) == (
        plain.error_type,
        plain.faulty_component,
        plain.signature,
    )
    assert last.root is not None
    assert plain.root is not None
    assert last.root.text == plain.root.text


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
