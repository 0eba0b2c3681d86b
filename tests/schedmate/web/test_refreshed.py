"""Answers that are renewed in the background."""

import threading
import time
from itertools import chain, count, repeat

import pytest

from schedmate.web.refreshed import Refreshed
from sinks import SinkUnavailable

PATIENCE_S = 20.0


def test_it_is_renewed_without_anybody_asking() -> None:
    numbers, renewed = count(), threading.Event()

    def make() -> int:
        number = next(numbers)
        if number == 2:
            renewed.set()
        return number

    answer = Refreshed(make, least_s=0.001, share=1.0)
    assert answer.get()[0] == 0
    assert renewed.wait(PATIENCE_S)
    answer.close()
    held, age_s = answer.get()
    assert held >= 2
    assert age_s >= 0


def test_after_a_failure_the_next_who_asks_hears_why_and_then_all_is_well() -> None:
    failed = threading.Event()
    answers = chain([1, SinkUnavailable("away"), SinkUnavailable("still away")], repeat(4))

    def make() -> int:
        answer = next(answers)
        if isinstance(answer, Exception):
            failed.set()
            raise answer
        return answer

    answer = Refreshed(make, least_s=0.001, share=1.0)
    assert answer.get()[0] == 1
    assert failed.wait(PATIENCE_S)
    with pytest.raises(SinkUnavailable, match="still away"):
        _ask_until_it_fails(answer)
    assert answer.get()[0] == 4
    answer.close()


def _ask_until_it_fails(answer: Refreshed[int]) -> None:
    """The old answer is there for the moment that it takes to let it go."""
    while answer.get()[0] == 1:
        pass


def test_the_first_who_asks_hears_why_there_is_no_answer() -> None:
    def away() -> int:
        raise SinkUnavailable("away")

    answer = Refreshed(away)
    for _ in range(2):
        with pytest.raises(SinkUnavailable):
            answer.get()
    answer.close()


def test_a_look_never_waits_for_the_first_answer() -> None:
    allowed, made = threading.Event(), threading.Event()
    answers = chain([SinkUnavailable("away")], repeat(7))

    def make() -> int:
        answer = next(answers)
        if isinstance(answer, Exception):
            made.set()
            raise answer
        assert allowed.wait(PATIENCE_S)
        return answer

    answer = Refreshed(make, least_s=60.0)
    assert answer.peek() is None
    assert made.wait(PATIENCE_S)
    for _ in range(200):
        assert answer.peek() in (None, 7)
    allowed.set()
    deadline = time.monotonic() + PATIENCE_S
    while answer.peek() != 7:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    answer.close()
