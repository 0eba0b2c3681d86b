"""Several servers as one model: limits, retries, budgets, breakers, memory."""

import threading
import time
from concurrent.futures import ALL_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

import pytest

from processors.prompts import Prompt
from streams.model_worker.answers import AnswerStore
from streams.model_worker.http_server import HttpModelServer
from streams.model_worker.language_model import ModelUnavailable
from streams.model_worker.pool import ModelLimits, ModelPool
from tests.metric_values import value
from tests.streams.model_worker import misbehaving_server as bad

from .prompts import PROMPT

QUICK = ModelLimits(concurrency=8, timeout_s=5, total_s=10, attempts=3, pause_s=0.001, per_job_hour=1000, per_hour=1000)
GOOD = bad.answers({"class": "a"})


class Clock:
    """A clock that moves when told to, or when somebody sleeps by it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def asking(number: int = 0, job: str = "j") -> Prompt:
    return replace(PROMPT, key=f"question {number}", job=job)


def test_an_answer_is_given_again_and_not_asked_for_again() -> None:
    with bad.misbehaving(GOOD) as server:
        pool = ModelPool([HttpModelServer(server.url)], QUICK)
        first, again = pool.ask(asking()), pool.ask(asking())
        assert first is not None
        assert again is not None
        assert (first.content, first.model) == (again.content, again.model) == ({"class": "a"}, bad.MODEL)
        assert len(server.requests) == 1
        pool.ask(replace(asking(), version="2"))
        assert len(server.requests) == 2


def test_answers_outlast_the_process(tmp_path: Path) -> None:
    file = tmp_path / "answers" / "a.jsonl"
    with bad.misbehaving(GOOD) as server:
        ModelPool([HttpModelServer(server.url, "m")], QUICK, AnswerStore(10, file), "m").ask(asking())
    later = ModelPool([HttpModelServer(server.url, "m")], QUICK, AnswerStore(10, file), "m")  # the server is gone
    answer = later.ask(asking())
    assert answer is not None
    assert answer.content == {"class": "a"}


def test_a_stored_answer_outside_the_schema_is_not_used(tmp_path: Path) -> None:
    store = AnswerStore(10)
    store.put(("m", "check", "1", "question 0"), {"class": "z"})
    with bad.misbehaving(GOOD) as server:
        answer = ModelPool([HttpModelServer(server.url, "m")], QUICK, store, "m").ask(asking())
    assert answer is not None
    assert answer.content == {"class": "a"}


@pytest.mark.parametrize(
    "first",
    [bad.status(500), bad.status(429), bad.answers('{"cl'), bad.answers({"class": "z"}), bad.hangs_up, bad.says("{}")],
)
def test_a_failed_attempt_is_tried_again(first: bad.Behaviour) -> None:
    with bad.misbehaving(first, GOOD) as server:
        pool = ModelPool([HttpModelServer(server.url, "m")], QUICK)
        assert pool.ask(asking()) is not None
        assert (value(pool.metrics.retries), value(pool.metrics.failed), len(server.requests)) == (1, 0, 2)


def test_attempts_are_bounded_with_growing_pauses() -> None:
    clock = Clock()
    with bad.misbehaving(bad.status(500)) as server:
        limits = replace(QUICK, attempts=4, pause_s=1, total_s=1000, failures=100)
        pool = ModelPool([HttpModelServer(server.url, "m")], limits, clock=clock, sleep=clock.sleep)
        assert pool.ask(asking()) is None
        assert len(server.requests) == 4
    assert len(clock.slept) == 3
    assert all(0.5 * 2**place <= pause <= 1.5 * 2**place for place, pause in enumerate(clock.slept))
    assert value(pool.metrics.failed) == 1


def test_a_busy_server_is_given_the_time_it_asks_for() -> None:
    clock = Clock()
    with bad.misbehaving(bad.status(429, Retry_After="4"), GOOD) as server:
        pool = ModelPool([HttpModelServer(server.url, "m")], QUICK, clock=clock, sleep=clock.sleep)
        assert pool.ask(asking()) is not None
    assert clock.slept == [4]
    with bad.misbehaving(bad.status(429, Retry_After="9999"), GOOD) as server:
        assert (
            ModelPool([HttpModelServer(server.url, "m")], QUICK, clock=clock, sleep=clock.sleep).ask(asking()) is None
        )
    assert clock.slept == [4], "no question waits past its own limit"


def test_a_refused_question_is_not_asked_again() -> None:
    with bad.misbehaving(bad.status(400), GOOD) as server:
        assert ModelPool([HttpModelServer(server.url, "m")], QUICK).ask(asking()) is None
        assert len(server.requests) == 1


def test_another_server_takes_over() -> None:
    with bad.misbehaving(bad.status(500)) as ill, bad.misbehaving(GOOD) as well:
        pool = ModelPool([HttpModelServer(ill.url, "m"), HttpModelServer(well.url, "m")], QUICK)
        for number in range(20):
            assert pool.ask(asking(number)) is not None
        assert len(ill.requests) == QUICK.failures, "then it is left alone"


def test_the_breaker_opens_and_closes_again() -> None:
    clock = Clock()
    with bad.misbehaving(*[bad.status(500)] * 3, GOOD) as server:
        limits = replace(QUICK, attempts=1, failures=3, rest_s=60)
        pool = ModelPool([HttpModelServer(server.url, "m")], limits, clock=clock, sleep=clock.sleep)
        for number in range(3):
            assert pool.ask(asking(number)) is None
        for number in range(3, 10):
            with pytest.raises(ModelUnavailable):
                pool.ask(asking(number))
        assert (len(server.requests), value(pool.metrics.resting)) == (3, 7)
        clock.now += 61
        assert pool.ask(asking(99)) is not None
        assert pool.ask(asking(100)) is not None


def test_budgets_of_a_job_and_of_all() -> None:
    clock = Clock()
    with bad.misbehaving(GOOD) as server:
        limits = replace(QUICK, per_job_hour=3, per_hour=5)
        pool = ModelPool([HttpModelServer(server.url, "m")], limits, clock=clock)
        first = [pool.ask(asking(number, "a")) is not None for number in range(5)]
        second = [pool.ask(asking(number, "b")) is not None for number in range(10, 15)]
        assert first == [True] * 3 + [False] * 2
        assert second == [True] * 2 + [False] * 3
        assert value(pool.metrics.over_budget) == 5
        assert pool.ask(asking(0, "b")) is not None, "what is remembered costs nothing"
        clock.now += 3601
        assert pool.ask(asking(50, "a")) is not None


def test_no_more_questions_at_a_time_than_allowed_and_the_least_busy_server_first() -> None:
    slow = bad.after(0.05, GOOD)
    with bad.misbehaving(slow) as one, bad.misbehaving(slow) as two:
        pool = ModelPool(
            [HttpModelServer(one.url, "m"), HttpModelServer(two.url, "m")],
            replace(QUICK, concurrency=4, timeout_s=30, total_s=120),
        )
        most = 0
        with ThreadPoolExecutor(12) as threads:
            asked = [threads.submit(pool.ask, asking(number)) for number in range(24)]
            while not all(each.done() for each in asked):
                wait(asked, timeout=0.005, return_when=ALL_COMPLETED)
                most = max(most, one.under_way + two.under_way)
        assert None not in [each.result() for each in asked]
        assert most <= 4
        assert len(one.requests) + len(two.requests) == 24
        assert min(len(one.requests), len(two.requests)) >= 1
    assert value(pool.metrics.under_way) == 0


def test_the_server_with_fewest_questions_under_way_is_asked() -> None:
    release = threading.Event()

    def held(exchange: bad.Exchange) -> None:
        release.wait(20)
        GOOD(exchange)

    with bad.misbehaving(held) as one, bad.misbehaving(GOOD) as two:
        pool = ModelPool([HttpModelServer(one.url, "m"), HttpModelServer(two.url, "m")], QUICK)
        with ThreadPoolExecutor(1) as threads:
            first = threads.submit(pool.ask, asking(0))
            deadline = time.monotonic() + 10
            while not one.requests and time.monotonic() < deadline:
                time.sleep(0.005)
            assert all(pool.ask(asking(number)) for number in range(1, 8))
            release.set()
            assert first.result(10) is not None
        assert (len(one.requests), len(two.requests)) == (1, 7)


def test_a_question_gives_up_its_wait_for_a_place() -> None:
    release = threading.Event()

    def held(exchange: bad.Exchange) -> None:
        release.wait(20)
        GOOD(exchange)

    with bad.misbehaving(held) as server:
        pool = ModelPool([HttpModelServer(server.url, "m")], replace(QUICK, concurrency=1, total_s=0.2, timeout_s=10))
        with ThreadPoolExecutor(1) as threads:
            first = threads.submit(pool.ask, asking(0))
            deadline = time.monotonic() + 10
            while not server.requests and time.monotonic() < deadline:
                time.sleep(0.005)
            pool.ask(asking(1))
            release.set()
            first.result(10)
        assert value(pool.metrics.asked) == 2
        assert value(pool.metrics.answered) <= 1


def test_a_pool_needs_a_server() -> None:
    with pytest.raises(ValueError, match="at least one model server"):
        ModelPool([])
