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
from .test_bridge import FAIL, LocalSite

SETTINGS = BridgeSettings(modes=dict.fromkeys(Action, Mode.ACT), min_nodes_left=1, max_drained_share=0.5)
SAVES = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGUSR1, print); print(flush=True); time.sleep(60)",
]
DONE = [Outcome.STARTED, Outcome.DONE]


@pytest.fixture
def site() -> Iterator[LocalSite]:
    site = LocalSite(SETTINGS)
    yield site
    site.cluster.scheduler.close()


def decide(site: LocalSite, action: Action, **changes: Any) -> Decision:
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
    site.written(decision)
    site.bridge.accept(decision)
    site.bridge.advance()
    return decision


def node(site: LocalSite, name: str = "slot-0") -> NodeView:
    return next(each for each in site.cluster.scheduler.nodes() if each.node == name)


def running(site: LocalSite, command: list[str] = SLEEP) -> str:
    job = site.cluster.scheduler.submit(command)
    site.cluster.wait(job, SchedulerJobState.RUNNING)
    return job


def test_a_confirmed_fault_drains_the_node_and_moves_the_job(site: LocalSite) -> None:
    job = site.failed_job()
    site.bridge.accept(failure(job=job, node_evidence=True))
    site.bridge.advance()
    assert [result.outcome for result in site.written.results if result.action is Action.DRAIN] == DONE
    assert node(site).state is SchedulerNodeState.DRAINED
    assert site.cluster.wait(job, SchedulerJobState.COMPLETED, attempt=1).nodes == ("slot-1",)
    again = site.cluster.scheduler.submit([sys.executable, "-c", ""])
    assert site.cluster.wait(again, SchedulerJobState.COMPLETED).nodes == ("slot-1",)


def test_jobs_that_fail_on_one_node_propose_one_drain(site: LocalSite) -> None:
    for number in range(5):
        site.bridge.accept(failure(job=f"unknown-{number}", node_evidence=True))
    assert [each.node for each in site.written.decisions if each.action is Action.DRAIN] == ["slot-0"]


def test_a_retracted_verdict_withdraws_a_drain_that_waits(site: LocalSite) -> None:
    decide(site, Action.DRAIN, node="slot-1", node_evidence=True)
    site.bridge.accept(failure(job="7", node_evidence=True))
    site.bridge.advance()
    site.bridge.accept(failure(job="7", node_evidence=False, revision=2))
    waiting = [result for result in site.written.results if result.target == "slot-0"]
    assert [result.outcome for result in waiting] == [Outcome.REFUSED]
    assert "retracted" in waiting[0].detail
    assert node(site).state is SchedulerNodeState.UP


def test_a_drain_lasts_until_the_node_is_empty_even_past_its_expiry(site: LocalSite) -> None:
    job = running(site)
    decide(site, Action.DRAIN, node="slot-0", node_evidence=True)
    site.clock.now += 1000
    site.bridge = site.new_bridge()
    assert site.bridge.advance() is not None
    assert site.written.outcomes == [Outcome.STARTED]
    site.cluster.scheduler.cancel(job)
    site.cluster.wait(job, SchedulerJobState.CANCELLED)
    site.clock.now += 10
    site.bridge.advance()
    assert site.written.outcomes == DONE


def test_a_drain_that_a_person_undoes_meanwhile_is_not_done_again(site: LocalSite) -> None:
    running(site)
    decide(site, Action.DRAIN, node="slot-0", node_evidence=True)
    site.cluster.scheduler.undrain("slot-0")
    site.clock.now += 10
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STARTED, Outcome.UNVERIFIED]
    assert node(site).state is SchedulerNodeState.UP


def test_only_the_bridges_own_drains_are_undone(site: LocalSite) -> None:
    site.cluster.scheduler.drain("slot-1", "a person's")
    decide(site, Action.UNDRAIN, node="slot-1")
    assert site.written.outcomes == [Outcome.REFUSED]
    assert node(site, "slot-1").state is SchedulerNodeState.DRAINED


def test_a_hold_its_undo_and_a_cancellation(site: LocalSite) -> None:
    for _ in range(2):
        running(site)
    job = site.cluster.scheduler.submit(SLEEP)
    decide(site, Action.HOLD, job=job)
    assert site.cluster.scheduler.job(job).state is SchedulerJobState.HELD  # type: ignore[union-attr]
    decide(site, Action.RELEASE, job=job)
    site.cluster.scheduler.cancel("1")
    site.cluster.wait(job, SchedulerJobState.RUNNING)
    decide(site, Action.CANCEL, job=job)
    assert site.written.outcomes == DONE * 3
    assert site.cluster.scheduler.job(job).state is SchedulerJobState.CANCELLED  # type: ignore[union-attr]


def test_an_eviction_waits_for_the_checkpoint(site: LocalSite) -> None:
    job = running(site, SAVES)
    while not site.cluster.printed(job):
        pass
    decide(site, Action.EVICT, job=job, grace_s=600)
    site.bridge.accept(checkpoint(job, NOW - 5))
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STARTED], "that one is older than the decision"
    site.bridge.accept(checkpoint(job, NOW + 5))
    site.bridge.advance()
    assert site.written.outcomes == DONE
    assert site.cluster.wait(job, SchedulerJobState.RUNNING, attempt=1).attempt == 1


def test_a_lost_topic_repeats_no_act(site: LocalSite) -> None:
    job = site.cluster.scheduler.submit(FAIL)
    site.cluster.wait(job, SchedulerJobState.FAILED)
    site.bridge.accept(failure(job=job, node_evidence=True))
    site.bridge.advance()
    site.cluster.wait(job, SchedulerJobState.COMPLETED, attempt=1)
    site.cluster.scheduler.undrain("slot-0")
    site.bridge = Bridge(site.cluster.actuator, SETTINGS, site.written, site.clock)
    before = len(site.written.results)
    site.bridge.accept(failure(job=job, node_evidence=True))
    site.bridge.advance()
    assert [result.outcome for result in site.written.results[before:]] == [Outcome.REFUSED] * 2
    assert node(site).state is SchedulerNodeState.UP


@pytest.mark.parametrize("dies_at", range(1, 6))
def test_a_bridge_that_is_killed_drains_once(site: LocalSite, dies_at: int) -> None:
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
                    site.written(record)
                raise Killed
            site.written(record)

        bridge = Bridge(site.cluster.actuator, SETTINGS, publish, site.clock)
        for record in site.written.records:
            assert isinstance(record, Decision | DecisionResult)
            bridge.remember(record)
        verdict = failure(job=site.failed_job(), node="slot-1", node_evidence=True)
        try:
            bridge.accept(verdict)
            bridge.advance()
        except Killed:
            bridge = site.new_bridge()
            bridge.accept(verdict)
            bridge.advance()
        assert len(node(site, "slot-1").acts) <= 1
