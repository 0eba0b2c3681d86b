"""The bridge evicts for jobs that wait, on real processes of the local scheduler."""

import sys
import time
from collections.abc import Iterator

import msgspec
import pytest

from schedmate_records import Action, Checkpoint, Mode, Outcome
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.schedulers import SchedulerJobState
from scheduler_bridge.schedulers.local.actuator import LocalActuator
from scheduler_bridge.selectors import Selector
from tests.metric_values import value
from tests.scheduler_bridge.findings import Written, checkpoint
from tests.scheduler_bridge.schedulers.local.actuator.test_actuator import SLEEP, Cluster

SETTINGS = BridgeSettings(
    modes={Action.EVICT: Mode.ACT},
    evict_for=(Selector.parse("partition=urgent"),),
    evictable=(Selector.parse("partition=spot"),),
    evict_wait_seconds=0.0,
    evict_grace_seconds=0.0,
)
TELL = [
    sys.executable,
    "-c",
    "import os, time; print(os.environ.get('SCHEDMATE_CHECKPOINT'), flush=True); time.sleep(60)",
]


class Stand:
    def __init__(self) -> None:
        self.cluster, self.written = Cluster(), Written()
        self.bridge = self.new_bridge()

    def new_bridge(self, settings: BridgeSettings = SETTINGS) -> Bridge:
        return Bridge(self.cluster.actuator, settings, self.written)

    def fill(self, command: list[str] = SLEEP) -> None:
        """Start jobs that may be evicted on both slots."""
        for job in ("a", "b"):
            self.cluster.scheduler.submit(command, job=job, partition="spot")
            self.cluster.wait(job, SchedulerJobState.RUNNING)

    def urgent(self, job: str) -> None:
        self.cluster.scheduler.submit(SLEEP, job=job, partition="urgent", priority=10)
        self.cluster.wait(job, SchedulerJobState.PENDING)


@pytest.fixture
def stand() -> Iterator[Stand]:
    stand = Stand()
    yield stand
    stand.cluster.scheduler.close()


def test_who_saved_last_goes_and_learns_its_checkpoint(stand: Stand) -> None:
    stand.bridge = stand.new_bridge(BridgeSettings.model_validate({**dict(SETTINGS), "evict_yield_seconds": 0.5}))
    stand.fill(TELL)
    stand.bridge.accept(replaced := _saved("b"))
    stand.urgent("high")
    assert stand.bridge.advance() is not None, "it looks at the queue again"
    assert stand.cluster.wait("high", SchedulerJobState.RUNNING)
    assert [(decision.job, decision.checkpoint) for decision in stand.written.decisions] == [("b", replaced.path)]
    assert stand.written.outcomes == [Outcome.STARTED, Outcome.DONE]
    assert stand.cluster.wait("b", SchedulerJobState.PENDING).attempt == 1
    assert stand.cluster.scheduler.job("a").attempt == 0  # type: ignore[union-attr]
    stand.cluster.scheduler.cancel("high")
    stand.cluster.scheduler.cancel("a")
    stand.cluster.wait("b", SchedulerJobState.RUNNING, attempt=1)
    deadline = time.monotonic() + 10
    while replaced.path.encode() not in stand.cluster.printed("b"):
        assert time.monotonic() < deadline, stand.cluster.printed("b")
        time.sleep(0.01)


def test_one_round_for_one_job_and_none_for_who_was_evicted(stand: Stand) -> None:
    stand.fill()
    stand.urgent("high")
    stand.bridge.advance()
    stand.cluster.wait("high", SchedulerJobState.RUNNING)
    evicted = stand.written.decisions[0].job
    # Those who wait now: one that was evicted, and one for which the first was evicted and which has started.
    for _ in range(3):
        stand.bridge = _remembering(stand)
        stand.bridge.advance()
    assert [decision.job for decision in stand.written.decisions] == [evicted]
    stand.urgent("second")
    stand.bridge = _remembering(stand)
    stand.bridge.advance()
    assert {decision.job for decision in stand.written.decisions} == {"a", "b"}
    assert stand.written.outcomes == 2 * [Outcome.STARTED, Outcome.DONE]


def test_a_shadow_leaves_all_as_it_is_and_says_so_once(stand: Stand) -> None:
    stand.fill()
    stand.urgent("high")
    for _ in range(3):
        stand.bridge = _remembering(stand, BridgeSettings.model_validate({**dict(SETTINGS), "modes": {}}))
        stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.SHADOWED]
    assert [stand.cluster.scheduler.job(job).attempt for job in ("a", "b")] == [0, 0]  # type: ignore[union-attr]


def test_the_place_that_another_job_leaves_needs_no_eviction(stand: Stand) -> None:
    stand.fill()
    stand.urgent("high")
    settings = BridgeSettings.model_validate({**dict(SETTINGS), "modes": {Action.EVICT: Mode.APPROVE}})
    stand.bridge = stand.new_bridge(settings)
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.AWAITING_APPROVAL]
    spared = ({"a", "b"} - {stand.written.decisions[0].job}).pop()
    stand.cluster.scheduler.cancel(spared)
    stand.cluster.wait("high", SchedulerJobState.RUNNING)
    stand.bridge = _remembering(stand, settings)
    stand.bridge.advance()
    assert stand.written.outcomes[-1] is Outcome.REFUSED
    assert "no longer waits" in stand.written.results[-1].detail


def _saved(job: str) -> Checkpoint:
    return msgspec.structs.replace(checkpoint(job, time.time()), path="/scratch/run/step_500")


def _remembering(stand: Stand, settings: BridgeSettings = SETTINGS) -> Bridge:
    """Return a new bridge that knows the history."""
    bridge = stand.new_bridge(settings)
    for record in (*stand.written.decisions, *stand.written.results):
        bridge.remember(record)
    return bridge


def test_a_class_of_jobs_that_a_person_must_approve(stand: Stand) -> None:
    stand.fill()
    stand.urgent("high")
    held_back = {Selector.parse("partition=spot"): {Action.EVICT: Mode.APPROVE}}
    stand.bridge = stand.new_bridge(BridgeSettings.model_validate({**dict(SETTINGS), "modes_for": held_back}))
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.AWAITING_APPROVAL]
    assert value(stand.bridge.metrics.awaiting_approval) == 1
    assert "spot" in {stand.cluster.scheduler.job(each.job).partition for each in stand.written.decisions}  # type: ignore[union-attr]


class WithoutSignals(LocalActuator):
    """As Kubernetes and Ray are."""

    def can_signal(self) -> bool:
        return False

    def signal(self, job: str, signal: str) -> None:
        raise AssertionError("no signal can be sent")


def test_where_no_signal_can_be_sent_nobody_waits_for_its_answer(stand: Stand) -> None:
    stand.cluster.actuator = WithoutSignals(stand.cluster.scheduler)
    stand.bridge = stand.new_bridge(BridgeSettings.model_validate({**dict(SETTINGS), "evict_grace_seconds": 120.0}))
    stand.fill()
    stand.urgent("high")
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.STARTED, Outcome.DONE]
    assert [decision.grace_s for decision in stand.written.decisions] == [0.0]
    stand.cluster.wait("high", SchedulerJobState.RUNNING)
