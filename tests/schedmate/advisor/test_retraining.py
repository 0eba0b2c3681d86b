"""Looks at the model, each in a process of its own."""

import os
import sys
import time

import pytest

from schedmate.advisor import retraining
from schedmate.advisor.metrics import AdvisorMetrics
from schedmate.advisor.retraining import Retraining
from tests.metric_values import value


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def until(looks: Retraining, metrics: AdvisorMetrics, ended: int) -> None:
    deadline = time.monotonic() + 300
    while value(metrics.looks) + value(metrics.looks_failed) < ended:
        looks.poll()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def made(code: str, every_s: float = 3600.0) -> tuple[Retraining, AdvisorMetrics, Clock]:
    metrics, clock = AdvisorMetrics(), Clock()
    return Retraining([sys.executable, "-c", code], dict(os.environ), every_s, metrics, clock), metrics, clock


def test_a_look_comes_when_it_is_due_and_what_it_said_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    looks, metrics, clock = made("print('no drift at all')")
    looks.poll()
    clock.now = retraining.FIRST_S
    looks.poll()
    until(looks, metrics, 1)
    assert "no drift at all" in capsys.readouterr().out
    clock.now += 3600
    looks.poll()
    until(looks, metrics, 2)
    assert value(metrics.looks_failed) == 0


def test_a_look_that_fails_is_counted_and_the_next_one_comes() -> None:
    looks, metrics, clock = made("raise SystemExit('expected a history')")
    for ended in (1, 2):
        clock.now += 3600
        looks.poll()
        until(looks, metrics, ended)
    looks.close()
    assert (value(metrics.looks), value(metrics.looks_failed)) == (0, 2)


def test_one_that_never_ends_is_ended() -> None:
    looks, metrics, clock = made("import time; time.sleep(3600)")
    clock.now = 3600
    looks.poll()
    clock.now += retraining.LONGEST_S + 1
    until(looks, metrics, 1)
    looks.close()  # the next one has begun
    assert value(metrics.looks_failed) == 1


def test_zero_is_never() -> None:
    looks, metrics, clock = made("print('x')", every_s=0.0)
    clock.now = 1e9
    looks.poll()
    looks.poll()
    looks.close()
    assert value(metrics.looks) == 0
