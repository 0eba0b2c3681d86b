"""What changes between the moment in which a decision was found right and the moment in which it is carried out."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from schedmate_records import Action, Command, ErrorType, Mode, Outcome, Record
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.node_check import NodeCheck
from scheduler_bridge.schedulers import JobView, SchedulerAway, SchedulerJobState, SchedulerNodeState
from scheduler_bridge.schedulers.local.actuator import LocalActuator, LocalScheduler
from scheduler_bridge.selectors import Selector
from tests.scheduler_bridge.policies.test_cancel_job import hang
from tests.scheduler_bridge.schedulers.local.actuator.test_actuator import SLEEP

from .findings import NOW, checkpoint, failure
from .test_actions import DONE, SAVES, SETTINGS, decide, node, running
from .test_bridge import LocalSite
from .test_people import command, word

STOPPED = [Outcome.STOPPED]


class Slow(LocalActuator):
    """Its checks and stacks take a while, in which something happens."""

    happens: Callable[[], object] = staticmethod(lambda: None)

    def __init__(self, scheduler: LocalScheduler) -> None:
        super().__init__(scheduler)
        self.told: list[str] = []

    def evict(self, job: str, key: str, checkpoint: str = "", delay: float = 0.0) -> JobView:
        self.told.append(checkpoint)
        return super().evict(job, key, checkpoint, delay)

    def check(self, node: str) -> NodeCheck | None:
        self.happens()
        return NodeCheck.from_output(1, f"{node} is ill")

    def stacks(self, job: str) -> str:
        self.happens()
        return f"where {job} stands"


class SlowStand(LocalSite):
    """A bridge that reads on its own what people write, as `schedmate bridge` does."""

    def __init__(self, settings: BridgeSettings = SETTINGS) -> None:
        super().__init__(settings)
        self.cluster.actuator = self.actuator = Slow(self.cluster.scheduler)
        self.history: list[Record] = []
        self.bridge = self.new_bridge()

    def new_bridge(self) -> Bridge:
        recall: Any = lambda: getattr(self, "history", [])  # noqa: E731
        bridge = Bridge(self.cluster.actuator, self.settings, self.written, self.clock, recall)
        for record in self.written.records:
            bridge.remember(record)  # type: ignore[arg-type]
        return bridge


@pytest.fixture
def site() -> Iterator[SlowStand]:
    site = SlowStand()
    yield site
    site.cluster.scheduler.close()


def state(site: LocalSite, job: str) -> SchedulerJobState:
    seen = site.cluster.scheduler.job(job)
    assert seen is not None
    return seen.state


def test_a_stop_that_comes_while_a_node_is_checked_keeps_it_in_service(site: SlowStand) -> None:
    site.actuator.happens = lambda: site.history.append(command(Command.STOP))
    decide(site, Action.DRAIN, node="slot-0", node_evidence=True)
    assert site.written.outcomes == STOPPED
    assert node(site).state is SchedulerNodeState.UP


def test_a_decision_that_expires_while_a_node_is_checked_is_not_carried_out(site: SlowStand) -> None:
    def passes() -> None:
        site.clock.now += 601

    site.actuator.happens = passes
    decide(site, Action.DRAIN, node="slot-0", node_evidence=True)
    assert site.written.outcomes == [Outcome.EXPIRED]
    assert node(site).state is SchedulerNodeState.UP


def test_a_verdict_that_is_retracted_while_a_node_is_checked_drains_nothing(site: SlowStand) -> None:
    retracted = failure(revision=2, error_type=ErrorType.NONE, message="it went on")
    site.actuator.happens = lambda: site.history.append(retracted)
    site.bridge.accept(failure(node_evidence=True))
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.REFUSED] * 2, "the drain, and the restart elsewhere"
    assert all("the verdict was retracted" in each.detail for each in site.written.results)
    assert node(site).state is SchedulerNodeState.UP


def test_a_verdict_that_is_read_once_more_retracts_nothing_that_it_led_to(site: SlowStand) -> None:
    site.bridge.accept(failure(confidence=0.9))
    site.settings = SETTINGS.model_copy(update={"min_confidence": 0.95})  # by now it would lead to nothing
    bridge = site.new_bridge()
    bridge.remember(failure(confidence=0.9))
    assert site.written.results == []
    bridge.remember(failure(confidence=0.9, revision=2))
    assert site.written.outcomes == [Outcome.REFUSED]


def test_a_stop_that_comes_while_stacks_are_taken_leaves_the_job_alone(site: SlowStand) -> None:
    job = running(site)
    site.actuator.happens = lambda: site.history.append(command(Command.STOP))
    decide(site, Action.CANCEL, job=job)
    assert site.written.outcomes == STOPPED
    assert state(site, job) is SchedulerJobState.RUNNING


def test_a_job_that_begins_anew_while_stacks_are_taken_is_left_alone(site: SlowStand) -> None:
    job = running(site)

    def a_person_requeues_it() -> None:
        site.cluster.scheduler.requeue(job)
        site.cluster.wait(job, SchedulerJobState.RUNNING, attempt=1)

    site.actuator.happens = a_person_requeues_it
    decide(site, Action.CANCEL, job=job)
    assert site.written.outcomes == [Outcome.REFUSED]
    assert "attempt 1" in site.written.results[-1].detail
    assert state(site, job) is SchedulerJobState.RUNNING


def test_a_job_that_goes_on_while_stacks_are_taken_is_left_alone(site: SlowStand) -> None:
    job = running(site)
    over = hang(job, raised=False, time=NOW + 5, detail="step 7")
    site.actuator.happens = lambda: site.history.append(over)
    site.bridge.accept(hang(job))
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.REFUSED]
    assert "the hang is over: step 7" in site.written.results[-1].detail
    assert state(site, job) is SchedulerJobState.RUNNING


def test_the_end_of_an_earlier_hang_says_nothing_of_a_later_one(site: SlowStand) -> None:
    job = running(site)
    site.history.append(hang(job, raised=False, time=NOW - 5000))
    site.bridge.accept(hang(job))
    site.bridge.advance()
    assert site.written.outcomes == DONE


def test_what_is_well_is_not_drained_and_what_is_ill_is(site: SlowStand) -> None:
    decide(site, Action.DRAIN, node="slot-0", node_evidence=True)
    assert site.written.outcomes == DONE
    assert "slot-0 is ill" in site.written.results[0].detail


def in_grace(site: LocalSite, **changes: Any) -> str:
    """Tell a job to save a checkpoint, and return it."""
    job = running(site, SAVES)
    while not site.cluster.printed(job):
        pass
    decide(site, Action.EVICT, job=job, grace_s=60, **changes)
    assert site.written.outcomes == [Outcome.STARTED]
    return job


def test_a_stop_that_stands_in_the_topic_is_seen_before_a_grace_period_ends(site: SlowStand) -> None:
    job = in_grace(site)
    site.history.append(command(Command.STOP))
    site.clock.now += 61
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STARTED, Outcome.STOPPED]
    assert site.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]


def test_nobody_goes_for_a_job_that_found_its_place_in_the_grace_period(site: SlowStand) -> None:
    other = running(site)
    scheduler = site.cluster.scheduler
    job = running(site, SAVES)
    while not site.cluster.printed(job):
        pass
    waits = scheduler.submit(SLEEP)
    decide(site, Action.EVICT, job=job, grace_s=60, beneficiary=waits)
    assert site.written.outcomes == [Outcome.STARTED]
    scheduler.cancel(other)
    site.cluster.wait(waits, SchedulerJobState.RUNNING)
    site.clock.now += 61
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STARTED, Outcome.REFUSED]
    assert "no longer waits" in site.written.results[-1].detail
    assert scheduler.job(job).attempt == 0  # type: ignore[union-attr]


def test_a_job_goes_on_from_what_it_saved_when_it_was_told_to(site: SlowStand) -> None:
    job = in_grace(site, checkpoint="/scratch/step_500")
    site.clock.now += 10
    saved = checkpoint(job, NOW + 5)
    site.bridge.accept(msgspec.structs.replace(saved, path="/scratch/step_600"))
    site.bridge.advance()
    assert site.written.outcomes == DONE
    assert site.actuator.told == ["/scratch/step_600"]


def test_a_job_that_saved_nothing_since_goes_on_from_what_the_decision_names(site: SlowStand) -> None:
    site.bridge.accept(msgspec.structs.replace(checkpoint("1", NOW - 50), path="/scratch/step_100"))
    in_grace(site, checkpoint="/scratch/step_500")
    site.clock.now += 61
    site.bridge.advance()
    assert site.actuator.told == ["/scratch/step_500"]


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({"modes_for": {Selector(): {Action.CANCEL: Mode.SHADOW}}}, Outcome.UNVERIFIED),
        ({"modes_for": {Selector(): {Action.CANCEL: Mode.APPROVE}}}, Outcome.AWAITING_APPROVAL),
        ({"modes": {Action.CANCEL: Mode.APPROVE}}, Outcome.AWAITING_APPROVAL),
    ],
)
def test_what_a_crash_cut_off_is_not_done_once_the_operator_has_held_it_back(
    site: SlowStand, changed: dict[str, Any], outcome: Outcome
) -> None:
    class Killed(Exception):
        pass

    def dies() -> None:
        raise Killed

    job = running(site)
    site.actuator.cancel = lambda job, key: dies()  # type: ignore[method-assign, assignment, return-value]
    with pytest.raises(Killed):
        decide(site, Action.CANCEL, job=job)
    assert site.written.outcomes == [Outcome.STARTED]
    del site.actuator.cancel
    site.settings = SETTINGS.model_copy(update=changed)
    site.bridge = site.new_bridge()
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STARTED, outcome]
    assert state(site, job) is SchedulerJobState.RUNNING


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({"modes": {Action.EVICT: Mode.SHADOW}}, Outcome.SHADOWED),
        ({"modes_for": {Selector(): {Action.EVICT: Mode.SHADOW}}}, Outcome.REFUSED),
        ({"modes": {Action.EVICT: Mode.APPROVE}}, Outcome.AWAITING_APPROVAL),
    ],
)
def test_a_job_that_was_told_to_save_stays_once_the_operator_has_held_evictions_back(
    site: SlowStand, changed: dict[str, Any], outcome: Outcome
) -> None:
    job = in_grace(site)
    site.settings = SETTINGS.model_copy(update=changed)
    site.bridge = site.new_bridge()
    site.clock.now += 61
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STARTED, outcome]
    assert site.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]


def test_a_job_that_was_told_to_save_stays_where_a_person_rejects_its_eviction(site: SlowStand) -> None:
    job = in_grace(site)
    site.history.append(word(Command.REJECT, site.written.decisions[0]))
    site.clock.now += 61
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STARTED, Outcome.REFUSED]
    assert site.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]


def test_a_job_is_not_evicted_long_after_its_grace_period_as_no_bridge_ran(site: SlowStand) -> None:
    job = in_grace(site)
    site.clock.now += 36_000
    site.bridge = site.new_bridge()
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STARTED, Outcome.EXPIRED]
    assert site.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]


def test_an_approval_holds_to_the_end_of_a_grace_period_that_outlasts_it(site: SlowStand) -> None:
    site.settings = SETTINGS.model_copy(update={"modes": {Action.EVICT: Mode.APPROVE}})
    site.bridge = site.new_bridge()
    job = running(site, SAVES)
    while not site.cluster.printed(job):
        pass
    about = decide(site, Action.EVICT, job=job, grace_s=60, expires=NOW + 60)
    site.clock.now += 50
    site.history.append(word(Command.APPROVE, about))
    site.bridge.remember(site.history[0])  # type: ignore[arg-type]
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.AWAITING_APPROVAL, Outcome.STARTED]
    site.clock.now += 61
    site.bridge.advance()
    assert site.written.outcomes[-1] is Outcome.DONE


@pytest.mark.parametrize("killed", [True, False])
def test_a_job_that_was_not_told_to_save_when_a_crash_or_an_outage_came_is_told_then(
    site: SlowStand, killed: bool
) -> None:
    class Killed(Exception):
        pass

    def dies(job: str, signal: str) -> None:
        raise Killed if killed else SchedulerAway("an answer", "none", "it is asked again")

    told: list[str] = []
    site.actuator.signal = dies  # type: ignore[method-assign]
    if killed:
        with pytest.raises(Killed):
            in_grace(site)
        site.bridge = site.new_bridge()
    else:
        in_grace(site)
    site.actuator.signal = lambda job, signal: told.append(job)  # type: ignore[method-assign]
    for _ in range(3):
        site.clock.now += 10
        site.bridge.advance()
    assert told == ["1"]
    assert site.written.outcomes == [Outcome.STARTED]
    site.clock.now += 31
    site.bridge.advance()
    assert site.written.outcomes == DONE


def test_after_a_restart_no_job_is_told_to_save_that_may_not_be_evicted_any_more(site: SlowStand) -> None:
    told: list[str] = []
    in_grace(site)
    site.actuator.signal = lambda job, signal: told.append(job)  # type: ignore[method-assign]
    for changes, said in (({"modes": {Action.EVICT: Mode.SHADOW}}, None), ({}, command(Command.STOP))):
        site.settings = SETTINGS.model_copy(update=changes)
        site.bridge = site.new_bridge()
        if said:
            site.bridge.remember(said)
        site.bridge.advance()
    assert told == []
