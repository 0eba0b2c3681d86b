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


class EvictingSite:
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
def site() -> Iterator[EvictingSite]:
    site = EvictingSite()
    yield site
    site.cluster.scheduler.close()


def test_who_saved_last_goes_and_learns_its_checkpoint(site: EvictingSite) -> None:
    site.bridge = site.new_bridge(BridgeSettings.model_validate({**dict(SETTINGS), "evict_yield_seconds": 0.5}))
    site.fill(TELL)
    site.bridge.accept(replaced := _saved("b"))
    site.urgent("high")
    assert site.bridge.advance() is not None, "it looks at the queue again"
    assert site.cluster.wait("high", SchedulerJobState.RUNNING)
    assert [(decision.job, decision.checkpoint) for decision in site.written.decisions] == [("b", replaced.path)]
    assert site.written.outcomes == [Outcome.STARTED, Outcome.DONE]
    assert site.cluster.wait("b", SchedulerJobState.PENDING).attempt == 1
    assert site.cluster.scheduler.job("a").attempt == 0  # type: ignore[union-attr]
    site.cluster.scheduler.cancel("high")
    site.cluster.scheduler.cancel("a")
    site.cluster.wait("b", SchedulerJobState.RUNNING, attempt=1)
    deadline = time.monotonic() + 10
    while replaced.path.encode() not in site.cluster.printed("b"):
        assert time.monotonic() < deadline, site.cluster.printed("b")
        time.sleep(0.01)


def test_one_round_for_one_job_and_none_for_who_was_evicted(site: EvictingSite) -> None:
    site.fill()
    site.urgent("high")
    site.bridge.advance()
    site.cluster.wait("high", SchedulerJobState.RUNNING)
    evicted = site.written.decisions[0].job
    # Those who wait now: one that was evicted, and one for which the first was evicted and which has started.
    for _ in range(3):
        site.bridge = _remembering(site)
        site.bridge.advance()
    assert [decision.job for decision in site.written.decisions] == [evicted]
    site.urgent("second")
    site.bridge = _remembering(site)
    site.bridge.advance()
    assert {decision.job for decision in site.written.decisions} == {"a", "b"}
    assert site.written.outcomes == 2 * [Outcome.STARTED, Outcome.DONE]


def test_a_shadow_leaves_all_as_it_is_and_says_so_once(site: EvictingSite) -> None:
    site.fill()
    site.urgent("high")
    for _ in range(3):
        site.bridge = _remembering(site, BridgeSettings.model_validate({**dict(SETTINGS), "modes": {}}))
        site.bridge.advance()
    assert site.written.outcomes == [Outcome.SHADOWED]
    assert [site.cluster.scheduler.job(job).attempt for job in ("a", "b")] == [0, 0]  # type: ignore[union-attr]


def test_the_place_that_another_job_leaves_needs_no_eviction(site: EvictingSite) -> None:
    site.fill()
    site.urgent("high")
    settings = BridgeSettings.model_validate({**dict(SETTINGS), "modes": {Action.EVICT: Mode.APPROVE}})
    site.bridge = site.new_bridge(settings)
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.AWAITING_APPROVAL]
    spared = ({"a", "b"} - {site.written.decisions[0].job}).pop()
    site.cluster.scheduler.cancel(spared)
    site.cluster.wait("high", SchedulerJobState.RUNNING)
    site.bridge = _remembering(site, settings)
    site.bridge.advance()
    assert site.written.outcomes[-1] is Outcome.REFUSED
    assert "no longer waits" in site.written.results[-1].detail


def _saved(job: str) -> Checkpoint:
    return msgspec.structs.replace(checkpoint(job, time.time()), path="/scratch/run/step_500")


def _remembering(site: EvictingSite, settings: BridgeSettings = SETTINGS) -> Bridge:
    """Return a new bridge that knows the history."""
    bridge = site.new_bridge(settings)
    for record in (*site.written.decisions, *site.written.results):
        bridge.remember(record)
    return bridge


def test_a_class_of_jobs_that_a_person_must_approve(site: EvictingSite) -> None:
    site.fill()
    site.urgent("high")
    held_back = {Selector.parse("partition=spot"): {Action.EVICT: Mode.APPROVE}}
    site.bridge = site.new_bridge(BridgeSettings.model_validate({**dict(SETTINGS), "modes_for": held_back}))
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.AWAITING_APPROVAL]
    assert value(site.bridge.metrics.awaiting_approval) == 1
    assert "spot" in {site.cluster.scheduler.job(each.job).partition for each in site.written.decisions}  # type: ignore[union-attr]


class WithoutSignals(LocalActuator):
    """As Kubernetes and Ray are."""

    def can_signal(self) -> bool:
        return False

    def signal(self, job: str, signal: str) -> None:
        raise AssertionError("no signal can be sent")


def test_where_no_signal_can_be_sent_nobody_waits_for_its_answer(site: EvictingSite) -> None:
    site.cluster.actuator = WithoutSignals(site.cluster.scheduler)
    site.bridge = site.new_bridge(BridgeSettings.model_validate({**dict(SETTINGS), "evict_grace_seconds": 120.0}))
    site.fill()
    site.urgent("high")
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STARTED, Outcome.DONE]
    assert [decision.grace_s for decision in site.written.decisions] == [0.0]
    site.cluster.wait("high", SchedulerJobState.RUNNING)
