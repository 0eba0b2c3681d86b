"""Every action over the local scheduler, on real processes, and what crashes leave of it."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from schedmate_records import Action, Decision, DecisionResult, Mode, Outcome, Record
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.schedulers import NodeView, SchedulerJobState, SchedulerNodeState
from tests.scheduler_bridge.schedulers.local.actuator.test_actuator import SLEEP

from .findings import NOW, checkpoint, failure
from .test_bridge import FAIL, Stand

SETTINGS = BridgeSettings(modes=dict.fromkeys(Action, Mode.ACT), min_nodes_left=1, max_drained_share=0.5)
SAVES = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGUSR1, print); print(flush=True); time.sleep(60)",
]
DONE = [Outcome.STARTED, Outcome.DONE]


@pytest.fixture
def stand() -> Iterator[Stand]:
    stand = Stand(SETTINGS)
    yield stand
    stand.cluster.scheduler.close()


def decide(stand: Stand, action: Action, **changes: Any) -> Decision:
    fields: dict[str, Any] = {
        "id": f"{action}/{changes.get('job') or changes.get('node')}",
        "action": action,
        "time": NOW,
        "expires": NOW + 600,
        "mode": Mode.ACT,
        "policy": "test",
        "reason": "a test",
    }
    decision = Decision(**fields | changes)
    stand.written(decision)
    stand.bridge.accept(decision)
    stand.bridge.advance()
    return decision


def node(stand: Stand, name: str = "slot-0") -> NodeView:
    return next(each for each in stand.cluster.scheduler.nodes() if each.node == name)


def running(stand: Stand, command: list[str] = SLEEP) -> str:
    job = stand.cluster.scheduler.submit(command)
    stand.cluster.wait(job, SchedulerJobState.RUNNING)
    return job


def test_a_confirmed_fault_drains_the_node_and_moves_the_job(stand: Stand) -> None:
    job = stand.failed_job()
    stand.bridge.accept(failure(job=job, node_evidence=True))
    stand.bridge.advance()
    assert [result.outcome for result in stand.written.results if result.action is Action.DRAIN] == DONE
    assert node(stand).state is SchedulerNodeState.DRAINED
    assert stand.cluster.wait(job, SchedulerJobState.COMPLETED, attempt=1).nodes == ("slot-1",)
    again = stand.cluster.scheduler.submit([sys.executable, "-c", ""])
    assert stand.cluster.wait(again, SchedulerJobState.COMPLETED).nodes == ("slot-1",)


def test_jobs_that_fail_on_one_node_propose_one_drain(stand: Stand) -> None:
    for number in range(5):
        stand.bridge.accept(failure(job=f"unknown-{number}", node_evidence=True))
    assert [each.node for each in stand.written.decisions if each.action is Action.DRAIN] == ["slot-0"]


def test_a_retracted_verdict_withdraws_a_drain_that_waits(stand: Stand) -> None:
    decide(stand, Action.DRAIN, node="slot-1", node_evidence=True)
    stand.bridge.accept(failure(job="7", node_evidence=True))
    stand.bridge.advance()
    stand.bridge.accept(failure(job="7", node_evidence=False, revision=2))
    waiting = [result for result in stand.written.results if result.target == "slot-0"]
    assert [result.outcome for result in waiting] == [Outcome.REFUSED]
    assert "retracted" in waiting[0].detail
    assert node(stand).state is SchedulerNodeState.UP


def test_a_drain_lasts_until_the_node_is_empty_even_past_its_expiry(stand: Stand) -> None:
    job = running(stand)
    decide(stand, Action.DRAIN, node="slot-0", node_evidence=True)
    stand.clock.now += 1000
    stand.bridge = stand.new_bridge()
    assert stand.bridge.advance() is not None
    assert stand.written.outcomes == [Outcome.STARTED]
    stand.cluster.scheduler.cancel(job)
    stand.cluster.wait(job, SchedulerJobState.CANCELLED)
    stand.clock.now += 10
    stand.bridge.advance()
    assert stand.written.outcomes == DONE


def test_a_drain_that_a_person_undoes_meanwhile_is_not_done_again(stand: Stand) -> None:
    running(stand)
    decide(stand, Action.DRAIN, node="slot-0", node_evidence=True)
    stand.cluster.scheduler.undrain("slot-0")
    stand.clock.now += 10
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.STARTED, Outcome.UNVERIFIED]
    assert node(stand).state is SchedulerNodeState.UP


def test_only_the_bridges_own_drains_are_undone(stand: Stand) -> None:
    stand.cluster.scheduler.drain("slot-1", "a person's")
    decide(stand, Action.UNDRAIN, node="slot-1")
    assert stand.written.outcomes == [Outcome.REFUSED]
    assert node(stand, "slot-1").state is SchedulerNodeState.DRAINED


def test_a_hold_its_undo_and_a_cancellation(stand: Stand) -> None:
    for _ in range(2):
        running(stand)
    job = stand.cluster.scheduler.submit(SLEEP)
    decide(stand, Action.HOLD, job=job)
    assert stand.cluster.scheduler.job(job).state is SchedulerJobState.HELD  # type: ignore[union-attr]
    decide(stand, Action.RELEASE, job=job)
    stand.cluster.scheduler.cancel("1")
    stand.cluster.wait(job, SchedulerJobState.RUNNING)
    decide(stand, Action.CANCEL, job=job)
    assert stand.written.outcomes == DONE * 3
    assert stand.cluster.scheduler.job(job).state is SchedulerJobState.CANCELLED  # type: ignore[union-attr]


def test_an_eviction_waits_for_the_checkpoint(stand: Stand) -> None:
    job = running(stand, SAVES)
    while not stand.cluster.printed(job):
        pass
    decide(stand, Action.EVICT, job=job, grace_s=600)
    stand.bridge.accept(checkpoint(job, NOW - 5))
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.STARTED], "that one is older than the decision"
    stand.bridge.accept(checkpoint(job, NOW + 5))
    stand.bridge.advance()
    assert stand.written.outcomes == DONE
    assert stand.cluster.wait(job, SchedulerJobState.RUNNING, attempt=1).attempt == 1


def test_a_lost_topic_repeats_no_act(stand: Stand) -> None:
    job = stand.cluster.scheduler.submit(FAIL)
    stand.cluster.wait(job, SchedulerJobState.FAILED)
    stand.bridge.accept(failure(job=job, node_evidence=True))
    stand.bridge.advance()
    stand.cluster.wait(job, SchedulerJobState.COMPLETED, attempt=1)
    stand.cluster.scheduler.undrain("slot-0")
    stand.bridge = Bridge(stand.cluster.actuator, SETTINGS, stand.written, stand.clock)
    before = len(stand.written.results)
    stand.bridge.accept(failure(job=job, node_evidence=True))
    stand.bridge.advance()
    assert [result.outcome for result in stand.written.results[before:]] == [Outcome.REFUSED] * 2
    assert node(stand).state is SchedulerNodeState.UP


@pytest.mark.parametrize("dies_at", range(1, 6))
def test_a_bridge_that_is_killed_drains_once(stand: Stand, dies_at: int) -> None:
    """The n-th record is written, or not; then the bridge is killed, and another one goes on."""

    class Killed(Exception):
        pass

    for kept in (True, False):
        count = 0

        def publish(record: Record, kept: bool = kept) -> None:
            nonlocal count
            count += 1
            if count == dies_at:
                if kept:
                    stand.written(record)
                raise Killed
            stand.written(record)

        bridge = Bridge(stand.cluster.actuator, SETTINGS, publish, stand.clock)
        for record in stand.written.records:
            assert isinstance(record, Decision | DecisionResult)
            bridge.remember(record)
        verdict = failure(job=stand.failed_job(), node="slot-1", node_evidence=True)
        try:
            bridge.accept(verdict)
            bridge.advance()
        except Killed:
            bridge = stand.new_bridge()
            bridge.accept(verdict)
            bridge.advance()
        assert len(node(stand, "slot-1").acts) <= 1
