"""The bridge over the local scheduler, on real processes."""

import sys
import time
from collections.abc import Iterator

import pytest

from schedmate_records import (
    Action,
    Command,
    Decision,
    DecisionResult,
    ErrorType,
    EventKind,
    Failure,
    JobEvent,
    Mode,
    OperatorCommand,
    Outcome,
)
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.journal import FIRST_LOOK_S
from scheduler_bridge.schedulers import SchedulerJobState
from tests.metric_values import value
from tests.scheduler_bridge.schedulers.local.actuator.test_actuator import SLEEP, Cluster

from .findings import NOW, Written, failure, slowdown

ON = BridgeSettings(modes=dict.fromkeys(Action, Mode.ACT))
FAIL = [sys.executable, "-c", "import os, sys; sys.exit(os.environ['LOCAL_RESTART_COUNT'] == '0')"]


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


class Stand:
    """A bridge, its scheduler, and what it published."""

    def __init__(self, settings: BridgeSettings = ON) -> None:
        self.cluster = Cluster()
        self.written = Written()
        self.clock = Clock()
        self.settings = settings
        self.bridge = self.new_bridge()

    def new_bridge(self, *verdicts: Failure) -> Bridge:
        bridge = Bridge(self.cluster.actuator, self.settings, self.written, self.clock)
        for verdict in verdicts:
            bridge.remember(verdict)
        for record in self.written.records:
            assert isinstance(record, Decision | DecisionResult)
            bridge.remember(record)
        return bridge

    def failed_job(self) -> str:
        job = self.cluster.scheduler.submit(FAIL)
        self.cluster.wait(job, SchedulerJobState.FAILED)
        return job


@pytest.fixture
def stand() -> Iterator[Stand]:
    stand = Stand()
    yield stand
    stand.cluster.scheduler.close()


def test_a_failed_job_is_restarted_elsewhere_and_the_effect_is_written_down(stand: Stand) -> None:
    job = stand.failed_job()
    stand.bridge.accept(failure(job=job))
    assert stand.bridge.advance() is None
    assert stand.written.outcomes == [Outcome.STARTED, Outcome.DONE]
    done = stand.written.results[-1]
    assert (done.actuator, done.seen["excluded"], done.seen["attempt"]) == ("local", "slot-0", "1")
    assert done.node == "", "the job alone spoke against it"
    assert stand.cluster.wait(job, SchedulerJobState.COMPLETED, attempt=1).nodes == ("slot-1",)
    assert value(stand.bridge.metrics.outcomes, outcome="done") == 1


def test_shadow_by_default() -> None:
    stand = Stand(BridgeSettings())
    job = stand.failed_job()
    stand.bridge.accept(failure(job=job))
    stand.bridge.advance()
    assert [decision.mode for decision in stand.written.decisions] == [Mode.SHADOW]
    assert stand.written.outcomes == [Outcome.SHADOWED]
    assert stand.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]
    stand.cluster.scheduler.close()


def test_a_running_job_is_waited_for_and_never_stopped(stand: Stand) -> None:
    job = stand.cluster.scheduler.submit([sys.executable, "-c", "import sys, time; time.sleep(1); sys.exit(1)"])
    stand.cluster.wait(job, SchedulerJobState.RUNNING)
    stand.bridge.accept(failure(job=job))
    assert stand.bridge.advance() == pytest.approx(FIRST_LOOK_S)
    assert stand.written.results == []
    stand.cluster.wait(job, SchedulerJobState.FAILED)
    stand.bridge.accept(stand.cluster.event(job, EventKind.ENDED))
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.STARTED, Outcome.DONE]


def test_a_clock_that_is_set_back_makes_no_decision_wait(stand: Stand) -> None:
    job = stand.cluster.scheduler.submit([sys.executable, "-c", "import sys, time; time.sleep(1); sys.exit(1)"])
    stand.cluster.wait(job, SchedulerJobState.RUNNING)
    stand.bridge.accept(failure(job=job))
    assert stand.bridge.advance() == pytest.approx(FIRST_LOOK_S)
    stand.cluster.wait(job, SchedulerJobState.FAILED)
    stand.clock.now -= 60
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.STARTED, Outcome.DONE]


def test_a_job_that_goes_on_lets_the_decision_expire(stand: Stand) -> None:
    job = stand.cluster.scheduler.submit(SLEEP)
    stand.cluster.wait(job, SchedulerJobState.RUNNING)
    stand.bridge.accept(failure(job=job))
    stand.bridge.advance()
    stand.clock.now += ON.ttl_seconds + 1
    assert stand.bridge.advance() is None
    assert stand.written.outcomes == [Outcome.EXPIRED]
    assert "has not stopped" in stand.written.results[0].detail
    assert stand.cluster.scheduler.job(job).state is SchedulerJobState.RUNNING  # type: ignore[union-attr]


def test_a_verdict_taken_back_withdraws_what_waits(stand: Stand) -> None:
    job = stand.cluster.scheduler.submit(SLEEP)
    stand.cluster.wait(job, SchedulerJobState.RUNNING)
    stand.bridge.accept(failure(job=job))
    stand.bridge.advance()
    stand.bridge.accept(failure(job=job, revision=2, error_type=ErrorType.NONE, restartable=None))
    assert stand.written.outcomes == [Outcome.REFUSED]
    stand.cluster.scheduler.requeue(job)
    assert stand.bridge.advance() is None
    assert "retracted" in stand.written.results[0].detail


def test_another_suspect_replaces_the_decision_and_the_same_one_does_not(stand: Stand) -> None:
    job = stand.cluster.scheduler.submit(SLEEP)
    stand.cluster.wait(job, SchedulerJobState.RUNNING)
    stand.bridge.accept(failure(job=job))
    stand.bridge.accept(failure(job=job, revision=2, confidence=0.99))
    assert len(stand.written.decisions) == 1
    stand.bridge.accept(failure(job=job, revision=3, signature="nccl_timeout", node="slot-1"))
    restarts = [decision for decision in stand.written.decisions if decision.action is Action.RESTART]
    assert [decision.exclude_nodes for decision in restarts] == [["slot-0"], ["slot-1"]]
    assert stand.written.outcomes == [Outcome.REFUSED]
    assert "replaced" in stand.written.results[0].detail
    stand.bridge.accept(failure(job=job, revision=2, error_type=ErrorType.NONE))  # an old revision, seen again
    assert stand.written.outcomes == [Outcome.REFUSED]
    assert value(stand.bridge.metrics.repeats) == 2


def test_another_node_for_the_same_cause_replaces_the_decision(stand: Stand) -> None:
    job = stand.failed_job()
    stand.bridge.accept(failure(job=job))
    stand.bridge.accept(failure(job=job, revision=2, node="slot-1", node_evidence=True))
    restarts = [decision for decision in stand.written.decisions if decision.action is Action.RESTART]
    assert [decision.exclude_nodes for decision in restarts] == [["slot-0"], ["slot-1"]]
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.REFUSED, Outcome.STARTED, Outcome.DONE]
    assert stand.written.results[-1].node == "slot-1"


def test_a_job_that_its_user_cancelled_stays_cancelled(stand: Stand) -> None:
    job = stand.cluster.scheduler.submit(SLEEP)
    stand.cluster.wait(job, SchedulerJobState.RUNNING)
    stand.cluster.scheduler.cancel(job)
    stand.cluster.wait(job, SchedulerJobState.CANCELLED)
    stand.bridge.accept(failure(job=job))
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.REFUSED]


@pytest.mark.parametrize("final", [False, True])
def test_a_job_that_ended_with_exit_code_0_is_not_restarted_whatever_the_verdict(stand: Stand, final: bool) -> None:
    job = stand.cluster.run("print('a forged end has made the verdict final')")
    stand.cluster.wait(job, SchedulerJobState.COMPLETED)
    stand.bridge.accept(failure(job=job, final=final))
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.REFUSED]
    assert "ended with exit code 0" in stand.written.results[0].detail
    assert stand.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]


def test_a_final_verdict_does_not_stop_a_job_that_runs(stand: Stand) -> None:
    job = stand.cluster.scheduler.submit([sys.executable, "-c", "import time; time.sleep(1)"])
    stand.cluster.wait(job, SchedulerJobState.RUNNING)
    stand.bridge.accept(failure(job=job, final=True))
    stand.bridge.advance()
    assert stand.written.results == []
    stand.cluster.wait(job, SchedulerJobState.COMPLETED)
    stand.bridge.accept(stand.cluster.event(job, EventKind.ENDED))
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.REFUSED]
    assert stand.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]


RETRACTED = {"error_type": ErrorType.NONE, "restartable": None}


@pytest.mark.parametrize("between", [RETRACTED, {"node": "slot-1"}], ids=["retracted", "replaced"])
def test_a_verdict_that_is_in_force_again_restarts_the_job(stand: Stand, between: dict[str, object]) -> None:
    """A rank times out, others seem to go on, or the suspect changes and changes back: the end then repeats the first verdict."""
    job = stand.failed_job()
    revisions = [failure(job=job), failure(job=job, revision=2, **between), failure(job=job, revision=3, final=True)]
    for revision in revisions:
        stand.bridge.accept(revision)
    stand.bridge = stand.new_bridge(*revisions)
    for revision in revisions:  # read again after the bridge was killed
        stand.bridge.accept(revision)
    stand.bridge.advance()
    assert stand.written.outcomes[-2:] == [Outcome.STARTED, Outcome.DONE]
    assert len({decision.id for decision in stand.written.decisions}) == len(stand.written.decisions)
    assert stand.written.outcomes.count(Outcome.DONE) == 1
    assert stand.cluster.scheduler.job(job).attempt == 1  # type: ignore[union-attr]


def test_a_rejected_decision_is_not_proposed_again_when_its_verdict_is_in_force_again(stand: Stand) -> None:
    job = stand.failed_job()
    stand.bridge.accept(failure(job=job))
    (about,) = stand.written.decisions
    rejection = OperatorCommand(
        id="r", command=Command.REJECT, about=about.id, job=job, user="alice", time=NOW, reason="no"
    )
    stand.bridge.accept(rejection)
    stand.bridge.accept(failure(job=job, revision=2, **RETRACTED))
    stand.bridge.accept(failure(job=job, revision=3, final=True))
    stand.bridge.advance()
    assert stand.written.decisions == [about]
    assert stand.written.outcomes == [Outcome.REFUSED]


def test_a_bug_of_the_user_leads_to_nothing(stand: Stand) -> None:
    stand.bridge.accept(failure(job=stand.failed_job(), error_type=ErrorType.USER_SCRIPT))
    assert stand.bridge.advance() is None
    assert stand.written.records == []


def test_the_newcomer_goes_back_to_the_queue(stand: Stand) -> None:
    first = stand.cluster.scheduler.submit(SLEEP)
    stand.cluster.wait(first, SchedulerJobState.RUNNING)
    packed = stand.cluster.scheduler.submit(SLEEP, pack_with=first)
    stand.cluster.wait(packed, SchedulerJobState.RUNNING)
    stand.bridge.accept(slowdown(job=first, packed_job=packed))
    stand.bridge.accept(slowdown(job=first, packed_job=packed))
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.STARTED, Outcome.DONE]
    assert stand.written.results[-1].seen["alone"] == "yes"
    assert stand.cluster.wait(packed, SchedulerJobState.RUNNING, attempt=1).nodes == ("slot-1",)
    stand.bridge.accept(slowdown(id="another", job=first, packed_job=packed, attempt=0))
    stand.bridge.advance()
    assert stand.written.outcomes[2:] == [Outcome.REFUSED]


def test_seen_twice_acts_once_across_restarts_of_the_bridge(stand: Stand) -> None:
    job = stand.failed_job()
    verdict = failure(job=job)
    stand.bridge.accept(verdict)
    stand.bridge.advance()
    stand.cluster.wait(job, SchedulerJobState.COMPLETED, attempt=1)
    for _ in range(2):
        stand.bridge = stand.new_bridge()
        stand.bridge.accept(verdict)
        stand.bridge.accept(stand.written.decisions[0])
        stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.STARTED, Outcome.DONE]
    assert stand.cluster.scheduler.job(job).attempt == 1  # type: ignore[union-attr]


def test_a_decision_published_before_a_crash_is_carried_out_after_it(stand: Stand) -> None:
    stand.bridge.accept(failure(job=stand.failed_job()))
    stand.bridge = stand.new_bridge()
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.STARTED, Outcome.DONE]


@pytest.mark.parametrize("acted", [True, False])
def test_what_a_crash_cut_off_is_done_once(stand: Stand, acted: bool) -> None:
    job = stand.failed_job()
    stand.bridge.accept(failure(job=job))
    stand.bridge.advance()
    stand.cluster.wait(job, SchedulerJobState.COMPLETED, attempt=1)
    del stand.written.records[-1]  # the crash came before the result
    if not acted:
        job_of_another_cluster = Stand()
        job_of_another_cluster.failed_job()
        job_of_another_cluster.written.records = stand.written.records
        stand.cluster.scheduler.close()
        stand.cluster = job_of_another_cluster.cluster
    stand.bridge = stand.new_bridge()
    assert stand.bridge.advance() is None
    assert stand.written.outcomes == [Outcome.STARTED, Outcome.DONE]
    assert stand.cluster.scheduler.job(job).attempt == 1  # type: ignore[union-attr]


def _started(decision: Decision) -> DecisionResult:
    return DecisionResult(
        id=f"{decision.id}/{Outcome.STARTED}",
        decision_id=decision.id,
        action=decision.action,
        job=decision.job,
        time=NOW,
        outcome=Outcome.STARTED,
    )


def test_what_a_crash_cut_off_is_not_done_later_than_it_may_be(stand: Stand) -> None:
    job = stand.failed_job()
    stand.bridge.accept(failure(job=job))
    decided = stand.written.decisions[0]
    stand.written(_started(decided))
    stand.clock.now = decided.expires + 1
    stand.bridge = stand.new_bridge()
    assert stand.bridge.advance() is None
    assert stand.written.outcomes == [Outcome.STARTED, Outcome.UNVERIFIED]
    assert stand.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]


def test_a_decision_of_another_scheduler_is_carried_out_too(stand: Stand) -> None:
    job = stand.cluster.scheduler.submit(SLEEP)
    stand.cluster.wait(job, SchedulerJobState.RUNNING)
    fields = {"policy": "theirs", "reason": "quota", "time": NOW, "expires": NOW + 60, "mode": Mode.ACT}
    stand.bridge.accept(Decision(id="theirs", action=Action.EVICT, job=job, **fields))  # type: ignore[arg-type]
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.STARTED, Outcome.DONE]
    assert stand.written.decisions == []  # theirs was published by them


def test_an_action_that_fails_is_written_down_with_what_to_do(stand: Stand) -> None:
    job = stand.cluster.scheduler.submit(FAIL)
    stand.cluster.wait(job, SchedulerJobState.FAILED)
    fields = {"policy": "theirs", "reason": "", "time": NOW, "expires": NOW + 60, "mode": Mode.ACT}
    nodes = ["slot-0", "slot-1"]
    stand.bridge.accept(Decision(id="x", action=Action.RESTART, job=job, exclude_nodes=nodes, **fields))  # type: ignore[arg-type]
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.STARTED, Outcome.FAILED]
    assert "expected a slot to be left" in stand.written.results[-1].detail


def test_a_topic_that_cannot_be_written_leaves_the_job_alone(stand: Stand) -> None:
    job = stand.failed_job()
    stand.bridge.accept(failure(job=job))

    def broken(record: object) -> None:
        raise OSError("no broker")

    history = list(stand.written.decisions)
    bridge = Bridge(stand.cluster.actuator, ON, broken, stand.clock)
    bridge.remember(history[0])
    with pytest.raises(OSError, match="no broker"):
        bridge.advance()
    assert stand.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]


def test_unknown_jobs_are_refused(stand: Stand) -> None:
    stand.bridge.accept(failure(job="4711"))
    stand.bridge.advance()
    assert stand.written.outcomes == [Outcome.REFUSED]
    assert "does not know" in stand.written.results[0].detail


def test_events_of_other_jobs_change_nothing(stand: Stand) -> None:
    stand.bridge.accept(JobEvent(id="e", job="other", kind=EventKind.ENDED, time=time.time()))
    assert stand.bridge.advance() is None


def test_what_another_bridge_did_meanwhile_is_not_done_again(stand: Stand) -> None:
    job = stand.failed_job()
    other = Bridge(stand.cluster.actuator, ON, stand.written, stand.clock, recall=lambda: stand.written.results)
    for bridge in (other, stand.bridge):
        bridge.accept(failure(job=job))
    stand.bridge.advance()
    stand.cluster.scheduler.wait(lambda jobs: True, 1)
    other.advance()
    assert stand.written.outcomes[:2] == [Outcome.STARTED, Outcome.DONE]
    assert Outcome.STARTED not in stand.written.outcomes[2:]
    assert stand.cluster.scheduler.job(job).attempt == 1  # type: ignore[union-attr]
