"""A recorded, signed decision that somebody sends again, as it was or altered, leads to no second action. On real processes."""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from schedmate_records import Action, Decision, DecisionResult, EventKind, Mode, Outcome, Record, decode, encode
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.schedulers import SchedulerJobState
from scheduler_bridge.signing import SigningKeys
from tests.scheduler_bridge.schedulers.local.actuator.test_actuator import Cluster

from .findings import NOW, Written, failure

KEYS = SigningKeys({"ops": b"0123456789abcdef0123456789abcdef"})
SETTINGS = BridgeSettings(modes=dict.fromkeys(Action, Mode.ACT))
FAIL = [sys.executable, "-c", "import sys; sys.exit(1)"]


class Replay:
    """A bridge that restarted a failed job once, and the bytes of the decision that it wrote."""

    def __init__(self) -> None:
        self.cluster, self.written, self.now = Cluster(), Written(), NOW
        self.bridge = self.new_bridge()
        self.job = self.cluster.scheduler.submit(FAIL)
        self.cluster.wait(self.job, SchedulerJobState.FAILED)
        self.bridge.accept(failure(job=self.job))
        self.bridge.advance()
        assert self.written.outcomes == [Outcome.STARTED, Outcome.DONE]
        self.recorded = encode(self.written.decisions[0])
        self.cluster.wait(self.job, SchedulerJobState.FAILED, attempt=1)

    def new_bridge(self) -> Bridge:
        return Bridge(self.cluster.actuator, SETTINGS, self.written, lambda: self.now, keys=KEYS)

    def restart_bridge(self, *, remember: Callable[[Record], bool] = lambda _: True) -> None:
        """Start another bridge that reads those records of the topics that are still there."""
        self.written.records = [record for record in self.written.records if remember(record)]
        self.bridge = self.new_bridge()
        for record in self.written.records:
            assert isinstance(record, Decision | DecisionResult)
            self.bridge.remember(record)

    def send(self, **changes: Any) -> list[DecisionResult]:
        """Send the recorded decision again, altered by `changes`, and return the results that follow."""
        before = len(self.written.results)
        self.bridge.accept(msgspec.structs.replace(decode(Decision, self.recorded), **changes))
        self.bridge.advance()
        return self.written.results[before:]

    def restarts(self) -> int:
        seen = self.cluster.scheduler.job(self.job)
        assert seen
        return seen.attempt


@pytest.fixture
def replay() -> Iterator[Replay]:
    replay = Replay()
    yield replay
    replay.cluster.scheduler.close()


def is_decision(record: Record) -> bool:
    return isinstance(record, Decision)


def nothing(_: Record) -> bool:
    return False


@pytest.mark.parametrize("times", [1, 3])
def test_the_same_bytes_at_a_later_offset_change_nothing(replay: Replay, times: int) -> None:
    for _ in range(times):
        assert replay.send() == []
    assert replay.restarts() == 1


def test_they_change_nothing_after_the_bridge_was_restarted(replay: Replay) -> None:
    replay.restart_bridge()
    assert replay.send() == []
    assert replay.restarts() == 1


@pytest.mark.parametrize("remember", [is_decision, nothing], ids=["results lost", "all topics lost"])
def test_the_schedulers_own_record_of_acts_refuses_a_decision_where_topics_were_lost(
    replay: Replay, remember: Callable[[Record], bool]
) -> None:
    replay.restart_bridge(remember=remember)
    (result,) = replay.send()
    assert (result.outcome, result.detail.partition(": ")[0]) == (Outcome.REFUSED, "once")
    assert "the scheduler's record" in result.detail
    assert replay.restarts() == 1


def test_a_decision_that_nobody_carried_out_is_refused_once_the_job_has_a_newer_attempt(replay: Replay) -> None:
    job = replay.cluster.scheduler.submit(FAIL)
    replay.cluster.wait(job, SchedulerJobState.FAILED)
    replay.bridge.accept(failure(job=job))
    replay.recorded = encode(replay.written.decisions[-1])
    replay.cluster.scheduler.restart(job)  # a person was quicker
    replay.cluster.wait(job, SchedulerJobState.FAILED, attempt=1)
    replay.restart_bridge(remember=nothing)
    (result,) = replay.send()
    assert (result.outcome, result.detail.partition(": ")[0]) == (Outcome.REFUSED, "job-state")
    assert "in attempt 1" in result.detail
    seen = replay.cluster.scheduler.job(job)
    assert seen
    assert seen.attempt == 1


def test_a_decision_that_is_sent_again_after_its_expiry_is_not_carried_out(replay: Replay) -> None:
    replay.now = decode(Decision, replay.recorded).expires + 1
    assert replay.send() == [], "it is known"
    replay.restart_bridge(remember=nothing)
    (result,) = replay.send()
    assert result.outcome is Outcome.EXPIRED
    assert replay.restarts() == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "another"},
        {"attempt": 1},
        {"id": "another", "attempt": 1},
        {"id": "another", "attempt": 1, "time": NOW + 60},
        {"id": "another", "attempt": 1, "expires": NOW + 7000},
        {"id": "another", "attempt": 1, "exclude_nodes": []},
        {"id": "another", "attempt": 1, "cause": "another"},
        {"id": "another", "attempt": 1, "checkpoint": "/tmp/other"},
        {"id": "another", "attempt": 1, "action": Action.CANCEL},
        {"id": "another", "attempt": 1, "signature": ""},
        {"id": "another", "attempt": 1, "signature": "ops:" + "0" * 64},
    ],
    ids=str,
)
def test_an_altered_decision_is_not_carried_out(replay: Replay, changes: dict[str, Any]) -> None:
    results = replay.send(**changes)
    assert {result.detail.partition(": ")[0] for result in results} <= {"signature"}
    assert bool(results) is ("id" in changes), "under the same id it is a repeat"
    replay.restart_bridge(remember=nothing)
    (result,) = replay.send(**changes)
    assert (result.outcome, result.detail.partition(": ")[0]) == (Outcome.REFUSED, "signature")
    assert replay.restarts() == 1


def test_another_job_is_not_restarted_under_a_recorded_signature(replay: Replay) -> None:
    other = replay.cluster.scheduler.submit(FAIL)
    replay.cluster.wait(other, SchedulerJobState.FAILED)
    (result,) = replay.send(id=f"restart/{other}/0/x", job=other)
    assert (result.outcome, result.detail.partition(": ")[0]) == (Outcome.REFUSED, "signature")
    seen = replay.cluster.scheduler.job(other)
    assert seen
    assert seen.attempt == 0


def test_a_decision_that_waits_is_carried_out_as_it_was_signed(replay: Replay) -> None:
    """An altered copy under the same id does not replace the decision that waits."""
    waiting = replay.cluster.scheduler.submit([sys.executable, "-c", "import sys, time; time.sleep(1); sys.exit(1)"])
    replay.cluster.wait(waiting, SchedulerJobState.RUNNING)
    replay.bridge.accept(failure(job=waiting))
    decided = replay.written.decisions[-1]
    assert decided.job == waiting
    replay.bridge.accept(msgspec.structs.replace(decided, exclude_nodes=[], cause="another"))
    replay.cluster.wait(waiting, SchedulerJobState.FAILED)
    replay.bridge.accept(replay.cluster.event(waiting, EventKind.ENDED))
    replay.bridge.advance()
    seen = replay.cluster.scheduler.job(waiting)
    assert seen
    assert (seen.attempt, seen.excluded) == (1, ("slot-0",))
