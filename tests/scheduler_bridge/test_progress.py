"""The bridge and a job that fails again and again, on real processes: where it gains no step, it is left to a person."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from schedmate_records import Failure, Outcome
from scheduler_bridge import Bridge
from scheduler_bridge.schedulers import SchedulerJobState
from tests.metric_values import by_label

from .findings import failure
from .test_bridge import LocalSite

DONE = [Outcome.STARTED, Outcome.DONE]


class Failing(LocalSite):
    """A job whose every attempt fails."""

    def __init__(self) -> None:
        super().__init__()
        self.job = self.cluster.scheduler.submit([sys.executable, "-c", "raise SystemExit(1)"])

    def fail(self, attempt: int, step: int | None, **changes: Any) -> Failure:
        """Wait for the end of an attempt, and let the bridge work on its verdict."""
        self.cluster.wait(self.job, SchedulerJobState.FAILED, attempt=attempt)
        verdict = failure(job=self.job, attempt=attempt, step=step, **changes)
        self.bridge.accept(verdict)
        self.bridge.advance()
        return verdict


@pytest.fixture
def failing() -> Iterator[Failing]:
    failing = Failing()
    yield failing
    failing.cluster.scheduler.close()


def test_the_same_failure_at_the_same_step_stops_restarts_for_good(failing: Failing) -> None:
    failing.fail(0, 1000)
    failing.fail(1, 1000)
    assert failing.written.outcomes == [*DONE, Outcome.REFUSED]
    assert failing.written.results[-1].detail == (
        f"progress: job {failing.job} failed with xid_79 at step 1000, the attempt before it at step 1000: no step was gained"
    )
    assert by_label(failing.bridge.metrics.refused)["progress"] == 1
    assert failing.bridge.advance() is None
    assert failing.cluster.scheduler.job(failing.job).attempt == 1  # type: ignore[union-attr]


@pytest.mark.parametrize("steps", [(1000, 1001, 1002), (1000, None, 1000), (None, None, None)])
def test_where_steps_are_gained_or_not_known_the_budget_counts(failing: Failing, steps: tuple[int | None, ...]) -> None:
    for attempt, step in enumerate(steps):
        failing.fail(attempt, step)
    assert failing.written.outcomes == [*DONE, *DONE, Outcome.REFUSED]
    assert failing.written.results[-1].detail.startswith("budget: ")


def test_a_bridge_that_began_since_knows_what_was_written(failing: Failing) -> None:
    verdict = failing.fail(0, 1000)
    failing.bridge = failing.new_bridge()
    failing.bridge.remember(verdict)
    failing.fail(1, 990)
    assert failing.written.outcomes == [*DONE, Outcome.REFUSED]


def test_what_it_remembers_alone_leads_to_no_decision(failing: Failing) -> None:
    failing.bridge.remember(failure(job=failing.job, step=1000))
    assert failing.bridge.advance() is None
    assert failing.written.records == []


def test_what_came_meanwhile_is_known_right_before_the_act(failing: Failing) -> None:
    verdict = failing.fail(0, 900)
    late = [
        failure(job=failing.job, revision=2, final=True, step=1000),
        failure(job=failing.job, attempt=1, revision=2, final=True, step=990),
    ]
    failing.bridge = Bridge(failing.cluster.actuator, failing.settings, failing.written, failing.clock, lambda: late)
    for record in [*failing.written.decisions, *failing.written.results, verdict]:
        failing.bridge.remember(record)
    failing.fail(1, None)
    assert failing.written.outcomes == [*DONE, Outcome.REFUSED]
    assert "at step 990, the attempt before it at step 1000" in failing.written.results[-1].detail
