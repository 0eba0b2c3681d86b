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
from tests.scheduler_bridge.policies.test_cancel_hung import hang
from tests.scheduler_bridge.schedulers.local.actuator.test_actuator import SLEEP

from .findings import NOW, checkpoint, failure
from .test_actions import DONE, SAVES, SETTINGS, decide, node, running
from .test_bridge import Stand
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


class SlowStand(Stand):
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
def stand() -> Iterator[SlowStand]:
    stand = SlowStand()
    yield stand
    stand.cluster.scheduler.close()


def state(stand: Stand, job: str) -> SchedulerJobState:
    seen = stand.cluster.scheduler.job(job)
    assert seen is not None
    return seen.state


def test_a_stop_that_comes_while_a_node_is_checked_keeps_it_in_service(stand: SlowStand) -> None:
    stand.actuator.happens = lambda: stand.history.append(command(Command.STOP))
    decide(stand, Action.DRAIN, node="slot-0", node_evidence=True)
    assert stand.written.outcomes == STOPPED
    assert node(stand).state is SchedulerNodeState.UP


def test_a_decision_that_expires_while_a_node_is_checked_is_not_carried_out(stand: SlowStand) -> None:
    def passes() -> None:
        stand.clock.now += 601

    stand.actuator.happens = passes
    decide(stand, Action.DRAIN, node="slot-0", node_evidence=True)
    assert stand.written.outcomes == [Outcome.EXPIRED]
    assert node(stand).state is SchedulerNodeState.UP


def test_a_verdict_that_is_retracted_while_a_node_is_checked_drains_nothing(stand: SlowStand) -> None:
    retracted = failure(revision=2, error_type=ErrorType.NONE, message="it went on")
    stand.actuator.happens = lambda: stand.history.append(retracted)
    stand.bridge.accept(failure(node_evidence=True))
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.REFUSED] * 2, "the drain, and the restart elsewhere"
    assert all("the verdict was retracted" in each.detail for each in stand.written.results)
    assert node(stand).state is SchedulerNodeState.UP


def test_a_verdict_that_is_read_once_more_retracts_nothing_that_it_led_to(stand: SlowStand) -> None:
    stand.bridge.accept(failure(confidence=0.9))
    stand.settings = SETTINGS.model_copy(update={"min_confidence": 0.95})  # by now it would lead to nothing
    bridge = stand.new_bridge()
    bridge.remember(failure(confidence=0.9))
    assert stand.written.results == []
    bridge.remember(failure(confidence=0.9, revision=2))
    assert stand.written.outcomes == [Outcome.REFUSED]


def test_a_stop_that_comes_while_stacks_are_taken_leaves_the_job_alone(stand: SlowStand) -> None:
    job = running(stand)
    stand.actuator.happens = lambda: stand.history.append(command(Command.STOP))
    decide(stand, Action.CANCEL, job=job)
    assert stand.written.outcomes == STOPPED
    assert state(stand, job) is SchedulerJobState.RUNNING


def test_a_job_that_begins_anew_while_stacks_are_taken_is_left_alone(stand: SlowStand) -> None:
    job = running(stand)

    def a_person_requeues_it() -> None:
        stand.cluster.scheduler.requeue(job)
        stand.cluster.wait(job, SchedulerJobState.RUNNING, attempt=1)

    stand.actuator.happens = a_person_requeues_it
    decide(stand, Action.CANCEL, job=job)
    assert stand.written.outcomes == [Outcome.REFUSED]
    assert "attempt 1" in stand.written.results[-1].detail
    assert state(stand, job) is SchedulerJobState.RUNNING


def test_a_job_that_goes_on_while_stacks_are_taken_is_left_alone(stand: SlowStand) -> None:
    job = running(stand)
    over = hang(job, raised=False, time=NOW + 5, detail="step 7")
    stand.actuator.happens = lambda: stand.history.append(over)
    stand.bridge.accept(hang(job))
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.REFUSED]
    assert "the hang is over: step 7" in stand.written.results[-1].detail
    assert state(stand, job) is SchedulerJobState.RUNNING


def test_the_end_of_an_earlier_hang_says_nothing_of_a_later_one(stand: SlowStand) -> None:
    job = running(stand)
    stand.history.append(hang(job, raised=False, time=NOW - 5000))
    stand.bridge.accept(hang(job))
    stand.bridge.advance()
    assert stand.written.outcomes == DONE


def test_what_is_well_is_not_drained_and_what_is_ill_is(stand: SlowStand) -> None:
    decide(stand, Action.DRAIN, node="slot-0", node_evidence=True)
    assert stand.written.outcomes == DONE
    assert "slot-0 is ill" in stand.written.results[0].detail


def in_grace(stand: Stand, **changes: Any) -> str:
    """Tell a job to save a checkpoint, and return it."""
    job = running(stand, SAVES)
    while not stand.cluster.printed(job):
        pass
    decide(stand, Action.EVICT, job=job, grace_s=60, **changes)
    assert stand.written.outcomes == [Outcome.STARTED]
    return job


def test_a_stop_that_stands_in_the_topic_is_seen_before_a_grace_period_ends(stand: SlowStand) -> None:
    job = in_grace(stand)
    stand.history.append(command(Command.STOP))
    stand.clock.now += 61
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.STARTED, Outcome.STOPPED]
    assert stand.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]


def test_nobody_goes_for_a_job_that_found_its_place_in_the_grace_period(stand: SlowStand) -> None:
    other = running(stand)
    scheduler = stand.cluster.scheduler
    job = running(stand, SAVES)
    while not stand.cluster.printed(job):
        pass
    waits = scheduler.submit(SLEEP)
    decide(stand, Action.EVICT, job=job, grace_s=60, beneficiary=waits)
    assert stand.written.outcomes == [Outcome.STARTED]
    scheduler.cancel(other)
    stand.cluster.wait(waits, SchedulerJobState.RUNNING)
    stand.clock.now += 61
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.STARTED, Outcome.REFUSED]
    assert "no longer waits" in stand.written.results[-1].detail
    assert scheduler.job(job).attempt == 0  # type: ignore[union-attr]


def test_a_job_goes_on_from_what_it_saved_when_it_was_told_to(stand: SlowStand) -> None:
    job = in_grace(stand, checkpoint="/scratch/step_500")
    stand.clock.now += 10
    saved = checkpoint(job, NOW + 5)
    stand.bridge.accept(msgspec.structs.replace(saved, path="/scratch/step_600"))
    stand.bridge.advance()
    assert stand.written.outcomes == DONE
    assert stand.actuator.told == ["/scratch/step_600"]


def test_a_job_that_saved_nothing_since_goes_on_from_what_the_decision_names(stand: SlowStand) -> None:
    stand.bridge.accept(msgspec.structs.replace(checkpoint("1", NOW - 50), path="/scratch/step_100"))
    in_grace(stand, checkpoint="/scratch/step_500")
    stand.clock.now += 61
    stand.bridge.advance()
    assert stand.actuator.told == ["/scratch/step_500"]


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({"modes_for": {Selector(): {Action.CANCEL: Mode.SHADOW}}}, Outcome.UNVERIFIED),
        ({"modes_for": {Selector(): {Action.CANCEL: Mode.APPROVE}}}, Outcome.AWAITING_APPROVAL),
        ({"modes": {Action.CANCEL: Mode.APPROVE}}, Outcome.AWAITING_APPROVAL),
    ],
)
def test_what_a_crash_cut_off_is_not_done_once_the_operator_has_held_it_back(
    stand: SlowStand, changed: dict[str, Any], outcome: Outcome
) -> None:
    class Killed(Exception):
        pass

    def dies() -> None:
        raise Killed

    job = running(stand)
    stand.actuator.cancel = lambda job, key: dies()  # type: ignore[method-assign, assignment, return-value]
    with pytest.raises(Killed):
        decide(stand, Action.CANCEL, job=job)
    assert stand.written.outcomes == [Outcome.STARTED]
    del stand.actuator.cancel
    stand.settings = SETTINGS.model_copy(update=changed)
    stand.bridge = stand.new_bridge()
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.STARTED, outcome]
    assert state(stand, job) is SchedulerJobState.RUNNING


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({"modes": {Action.EVICT: Mode.SHADOW}}, Outcome.SHADOWED),
        ({"modes_for": {Selector(): {Action.EVICT: Mode.SHADOW}}}, Outcome.REFUSED),
        ({"modes": {Action.EVICT: Mode.APPROVE}}, Outcome.AWAITING_APPROVAL),
    ],
)
def test_a_job_that_was_told_to_save_stays_once_the_operator_has_held_evictions_back(
    stand: SlowStand, changed: dict[str, Any], outcome: Outcome
) -> None:
    job = in_grace(stand)
    stand.settings = SETTINGS.model_copy(update=changed)
    stand.bridge = stand.new_bridge()
    stand.clock.now += 61
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.STARTED, outcome]
    assert stand.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]


def test_a_job_that_was_told_to_save_stays_where_a_person_rejects_its_eviction(stand: SlowStand) -> None:
    job = in_grace(stand)
    stand.history.append(word(Command.REJECT, stand.written.decisions[0]))
    stand.clock.now += 61
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.STARTED, Outcome.REFUSED]
    assert stand.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]


def test_a_job_is_not_evicted_long_after_its_grace_period_as_no_bridge_ran(stand: SlowStand) -> None:
    job = in_grace(stand)
    stand.clock.now += 36_000
    stand.bridge = stand.new_bridge()
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.STARTED, Outcome.EXPIRED]
    assert stand.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]


def test_an_approval_holds_to_the_end_of_a_grace_period_that_outlasts_it(stand: SlowStand) -> None:
    stand.settings = SETTINGS.model_copy(update={"modes": {Action.EVICT: Mode.APPROVE}})
    stand.bridge = stand.new_bridge()
    job = running(stand, SAVES)
    while not stand.cluster.printed(job):
        pass
    about = decide(stand, Action.EVICT, job=job, grace_s=60, expires=NOW + 60)
    stand.clock.now += 50
    stand.history.append(word(Command.APPROVE, about))
    stand.bridge.remember(stand.history[0])  # type: ignore[arg-type]
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.AWAITING_APPROVAL, Outcome.STARTED]
    stand.clock.now += 61
    stand.bridge.advance()
    assert stand.written.outcomes[-1] is Outcome.DONE


@pytest.mark.parametrize("killed", [True, False])
def test_a_job_that_was_not_told_to_save_when_a_crash_or_an_outage_came_is_told_then(
    stand: SlowStand, killed: bool
) -> None:
    class Killed(Exception):
        pass

    def dies(job: str, signal: str) -> None:
        raise Killed if killed else SchedulerAway("an answer", "none", "it is asked again")

    told: list[str] = []
    stand.actuator.signal = dies  # type: ignore[method-assign]
    if killed:
        with pytest.raises(Killed):
            in_grace(stand)
        stand.bridge = stand.new_bridge()
    else:
        in_grace(stand)
    stand.actuator.signal = lambda job, signal: told.append(job)  # type: ignore[method-assign]
    for _ in range(3):
        stand.clock.now += 10
        stand.bridge.advance()
    assert told == ["1"]
    assert stand.written.outcomes == [Outcome.STARTED]
    stand.clock.now += 31
    stand.bridge.advance()
    assert stand.written.outcomes == DONE


def test_after_a_restart_no_job_is_told_to_save_that_may_not_be_evicted_any_more(stand: SlowStand) -> None:
    told: list[str] = []
    in_grace(stand)
    stand.actuator.signal = lambda job, signal: told.append(job)  # type: ignore[method-assign]
    for changes, said in (({"modes": {Action.EVICT: Mode.SHADOW}}, None), ({}, command(Command.STOP))):
        stand.settings = SETTINGS.model_copy(update=changes)
        stand.bridge = stand.new_bridge()
        if said:
            stand.bridge.remember(said)
        stand.bridge.advance()
    assert told == []
