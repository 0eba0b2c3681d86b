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


class LocalSite:
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
def site() -> Iterator[LocalSite]:
    site = LocalSite()
    yield site
    site.cluster.scheduler.close()


def test_a_failed_job_is_restarted_elsewhere_and_the_effect_is_written_down(site: LocalSite) -> None:
    job = site.failed_job()
    site.bridge.accept(failure(job=job))
    assert site.bridge.advance() is None
    assert site.written.outcomes == [Outcome.STARTED, Outcome.DONE]
    done = site.written.results[-1]
    assert (done.actuator, done.seen["excluded"], done.seen["attempt"]) == ("local", "slot-0", "1")
    assert done.node == "", "the job alone spoke against it"
    assert site.cluster.wait(job, SchedulerJobState.COMPLETED, attempt=1).nodes == ("slot-1",)
    assert value(site.bridge.metrics.outcomes, outcome="done") == 1


def test_shadow_by_default() -> None:
    site = LocalSite(BridgeSettings())
    job = site.failed_job()
    site.bridge.accept(failure(job=job))
    site.bridge.advance()
    assert [decision.mode for decision in site.written.decisions] == [Mode.SHADOW]
    assert site.written.outcomes == [Outcome.SHADOWED]
    assert site.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]
    site.cluster.scheduler.close()


def test_a_running_job_is_waited_for_and_never_stopped(site: LocalSite) -> None:
    job = site.cluster.scheduler.submit([sys.executable, "-c", "import sys, time; time.sleep(1); sys.exit(1)"])
    site.cluster.wait(job, SchedulerJobState.RUNNING)
    site.bridge.accept(failure(job=job))
    assert site.bridge.advance() == pytest.approx(FIRST_LOOK_S)
    assert site.written.results == []
    site.cluster.wait(job, SchedulerJobState.FAILED)
    site.bridge.accept(site.cluster.event(job, EventKind.ENDED))
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STARTED, Outcome.DONE]


def test_a_clock_that_is_set_back_makes_no_decision_wait(site: LocalSite) -> None:
    job = site.cluster.scheduler.submit([sys.executable, "-c", "import sys, time; time.sleep(1); sys.exit(1)"])
    site.cluster.wait(job, SchedulerJobState.RUNNING)
    site.bridge.accept(failure(job=job))
    assert site.bridge.advance() == pytest.approx(FIRST_LOOK_S)
    site.cluster.wait(job, SchedulerJobState.FAILED)
    site.clock.now -= 60
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STARTED, Outcome.DONE]


def test_a_job_that_goes_on_lets_the_decision_expire(site: LocalSite) -> None:
    job = site.cluster.scheduler.submit(SLEEP)
    site.cluster.wait(job, SchedulerJobState.RUNNING)
    site.bridge.accept(failure(job=job))
    site.bridge.advance()
    site.clock.now += ON.ttl_seconds + 1
    assert site.bridge.advance() is None
    assert site.written.outcomes == [Outcome.EXPIRED]
    assert "has not stopped" in site.written.results[0].detail
    assert site.cluster.scheduler.job(job).state is SchedulerJobState.RUNNING  # type: ignore[union-attr]


def test_a_verdict_taken_back_withdraws_what_waits(site: LocalSite) -> None:
    job = site.cluster.scheduler.submit(SLEEP)
    site.cluster.wait(job, SchedulerJobState.RUNNING)
    site.bridge.accept(failure(job=job))
    site.bridge.advance()
    site.bridge.accept(failure(job=job, revision=2, error_type=ErrorType.NONE, restartable=None))
    assert site.written.outcomes == [Outcome.REFUSED]
    site.cluster.scheduler.requeue(job)
    assert site.bridge.advance() is None
    assert "retracted" in site.written.results[0].detail


def test_another_suspect_replaces_the_decision_and_the_same_one_does_not(site: LocalSite) -> None:
    job = site.cluster.scheduler.submit(SLEEP)
    site.cluster.wait(job, SchedulerJobState.RUNNING)
    site.bridge.accept(failure(job=job))
    site.bridge.accept(failure(job=job, revision=2, confidence=0.99))
    assert len(site.written.decisions) == 1
    site.bridge.accept(failure(job=job, revision=3, signature="nccl_timeout", node="slot-1"))
    restarts = [decision for decision in site.written.decisions if decision.action is Action.RESTART]
    assert [decision.exclude_nodes for decision in restarts] == [["slot-0"], ["slot-1"]]
    assert site.written.outcomes == [Outcome.REFUSED]
    assert "replaced" in site.written.results[0].detail
    site.bridge.accept(failure(job=job, revision=2, error_type=ErrorType.NONE))  # an old revision, seen again
    assert site.written.outcomes == [Outcome.REFUSED]
    assert value(site.bridge.metrics.repeats) == 2


def test_another_node_for_the_same_cause_replaces_the_decision(site: LocalSite) -> None:
    job = site.failed_job()
    site.bridge.accept(failure(job=job))
    site.bridge.accept(failure(job=job, revision=2, node="slot-1", node_evidence=True))
    restarts = [decision for decision in site.written.decisions if decision.action is Action.RESTART]
    assert [decision.exclude_nodes for decision in restarts] == [["slot-0"], ["slot-1"]]
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.REFUSED, Outcome.STARTED, Outcome.DONE]
    assert site.written.results[-1].node == "slot-1"


def test_a_job_that_its_user_cancelled_stays_cancelled(site: LocalSite) -> None:
    job = site.cluster.scheduler.submit(SLEEP)
    site.cluster.wait(job, SchedulerJobState.RUNNING)
    site.cluster.scheduler.cancel(job)
    site.cluster.wait(job, SchedulerJobState.CANCELLED)
    site.bridge.accept(failure(job=job))
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.REFUSED]


@pytest.mark.parametrize("final", [False, True])
def test_a_job_that_ended_with_exit_code_0_is_not_restarted_whatever_the_verdict(site: LocalSite, final: bool) -> None:
    job = site.cluster.run("print('a forged end has made the verdict final')")
    site.cluster.wait(job, SchedulerJobState.COMPLETED)
    site.bridge.accept(failure(job=job, final=final))
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.REFUSED]
    assert "ended with exit code 0" in site.written.results[0].detail
    assert site.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]


def test_a_final_verdict_does_not_stop_a_job_that_runs(site: LocalSite) -> None:
    job = site.cluster.scheduler.submit([sys.executable, "-c", "import time; time.sleep(1)"])
    site.cluster.wait(job, SchedulerJobState.RUNNING)
    site.bridge.accept(failure(job=job, final=True))
    site.bridge.advance()
    assert site.written.results == []
    site.cluster.wait(job, SchedulerJobState.COMPLETED)
    site.bridge.accept(site.cluster.event(job, EventKind.ENDED))
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.REFUSED]
    assert site.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]


RETRACTED = {"error_type": ErrorType.NONE, "restartable": None}


@pytest.mark.parametrize("between", [RETRACTED, {"node": "slot-1"}], ids=["retracted", "replaced"])
def test_a_verdict_that_is_in_force_again_restarts_the_job(site: LocalSite, between: dict[str, object]) -> None:
    """A rank times out, others seem to go on, or the suspect changes and changes back: the end then repeats the first verdict."""
    job = site.failed_job()
    revisions = [failure(job=job), failure(job=job, revision=2, **between), failure(job=job, revision=3, final=True)]
    for revision in revisions:
        site.bridge.accept(revision)
    site.bridge = site.new_bridge(*revisions)
    for revision in revisions:  # read again after the bridge was killed
        site.bridge.accept(revision)
    site.bridge.advance()
    assert site.written.outcomes[-2:] == [Outcome.STARTED, Outcome.DONE]
    assert len({decision.id for decision in site.written.decisions}) == len(site.written.decisions)
    assert site.written.outcomes.count(Outcome.DONE) == 1
    assert site.cluster.scheduler.job(job).attempt == 1  # type: ignore[union-attr]


def test_a_rejected_decision_is_not_proposed_again_when_its_verdict_is_in_force_again(site: LocalSite) -> None:
    job = site.failed_job()
    site.bridge.accept(failure(job=job))
    (about,) = site.written.decisions
    rejection = OperatorCommand(
        id="r", command=Command.REJECT, about=about.id, job=job, user="alice", time=NOW, reason="no"
    )
    site.bridge.accept(rejection)
    site.bridge.accept(failure(job=job, revision=2, **RETRACTED))
    site.bridge.accept(failure(job=job, revision=3, final=True))
    site.bridge.advance()
    assert site.written.decisions == [about]
    assert site.written.outcomes == [Outcome.REFUSED]


def test_a_bug_of_the_user_leads_to_nothing(site: LocalSite) -> None:
    site.bridge.accept(failure(job=site.failed_job(), error_type=ErrorType.USER_SCRIPT))
    assert site.bridge.advance() is None
    assert site.written.records == []


def test_the_newcomer_goes_back_to_the_queue(site: LocalSite) -> None:
    first = site.cluster.scheduler.submit(SLEEP)
    site.cluster.wait(first, SchedulerJobState.RUNNING)
    packed = site.cluster.scheduler.submit(SLEEP, pack_with=first)
    site.cluster.wait(packed, SchedulerJobState.RUNNING)
    site.bridge.accept(slowdown(job=first, packed_job=packed))
    site.bridge.accept(slowdown(job=first, packed_job=packed))
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STARTED, Outcome.DONE]
    assert site.written.results[-1].seen["alone"] == "yes"
    assert site.cluster.wait(packed, SchedulerJobState.RUNNING, attempt=1).nodes == ("slot-1",)
    site.bridge.accept(slowdown(id="another", job=first, packed_job=packed, attempt=0))
    site.bridge.advance()
    assert site.written.outcomes[2:] == [Outcome.REFUSED]


def test_seen_twice_acts_once_across_restarts_of_the_bridge(site: LocalSite) -> None:
    job = site.failed_job()
    verdict = failure(job=job)
    site.bridge.accept(verdict)
    site.bridge.advance()
    site.cluster.wait(job, SchedulerJobState.COMPLETED, attempt=1)
    for _ in range(2):
        site.bridge = site.new_bridge()
        site.bridge.accept(verdict)
        site.bridge.accept(site.written.decisions[0])
        site.bridge.advance()
    assert site.written.outcomes == [Outcome.STARTED, Outcome.DONE]
    assert site.cluster.scheduler.job(job).attempt == 1  # type: ignore[union-attr]


def test_a_decision_published_before_a_crash_is_carried_out_after_it(site: LocalSite) -> None:
    site.bridge.accept(failure(job=site.failed_job()))
    site.bridge = site.new_bridge()
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STARTED, Outcome.DONE]


@pytest.mark.parametrize("acted", [True, False])
def test_what_a_crash_cut_off_is_done_once(site: LocalSite, acted: bool) -> None:
    job = site.failed_job()
    site.bridge.accept(failure(job=job))
    site.bridge.advance()
    site.cluster.wait(job, SchedulerJobState.COMPLETED, attempt=1)
    del site.written.records[-1]  # the crash came before the result
    if not acted:
        job_of_another_cluster = LocalSite()
        job_of_another_cluster.failed_job()
        job_of_another_cluster.written.records = site.written.records
        site.cluster.scheduler.close()
        site.cluster = job_of_another_cluster.cluster
    site.bridge = site.new_bridge()
    assert site.bridge.advance() is None
    assert site.written.outcomes == [Outcome.STARTED, Outcome.DONE]
    assert site.cluster.scheduler.job(job).attempt == 1  # type: ignore[union-attr]


def _started(decision: Decision) -> DecisionResult:
    return DecisionResult(
        id=f"{decision.id}/{Outcome.STARTED}",
        decision_id=decision.id,
        action=decision.action,
        job=decision.job,
        time=NOW,
        outcome=Outcome.STARTED,
    )


def test_what_a_crash_cut_off_is_not_done_later_than_it_may_be(site: LocalSite) -> None:
    job = site.failed_job()
    site.bridge.accept(failure(job=job))
    decided = site.written.decisions[0]
    site.written(_started(decided))
    site.clock.now = decided.expires + 1
    site.bridge = site.new_bridge()
    assert site.bridge.advance() is None
    assert site.written.outcomes == [Outcome.STARTED, Outcome.UNVERIFIED]
    assert site.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]


def test_a_decision_of_another_scheduler_is_carried_out_too(site: LocalSite) -> None:
    job = site.cluster.scheduler.submit(SLEEP)
    site.cluster.wait(job, SchedulerJobState.RUNNING)
    fields = {"policy": "theirs", "reason": "quota", "time": NOW, "expires": NOW + 60, "mode": Mode.ACT}
    site.bridge.accept(Decision(id="theirs", action=Action.EVICT, job=job, **fields))  # type: ignore[arg-type]
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STARTED, Outcome.DONE]
    assert site.written.decisions == []  # theirs was published by them


def test_an_action_that_fails_is_written_down_with_what_to_do(site: LocalSite) -> None:
    job = site.cluster.scheduler.submit(FAIL)
    site.cluster.wait(job, SchedulerJobState.FAILED)
    fields = {"policy": "theirs", "reason": "", "time": NOW, "expires": NOW + 60, "mode": Mode.ACT}
    nodes = ["slot-0", "slot-1"]
    site.bridge.accept(Decision(id="x", action=Action.RESTART, job=job, exclude_nodes=nodes, **fields))  # type: ignore[arg-type]
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.STARTED, Outcome.FAILED]
    assert "expected a slot to be left" in site.written.results[-1].detail


def test_a_topic_that_cannot_be_written_leaves_the_job_alone(site: LocalSite) -> None:
    job = site.failed_job()
    site.bridge.accept(failure(job=job))

    def broken(record: object) -> None:
        raise OSError("no broker")

    history = list(site.written.decisions)
    bridge = Bridge(site.cluster.actuator, ON, broken, site.clock)
    bridge.remember(history[0])
    with pytest.raises(OSError, match="no broker"):
        bridge.advance()
    assert site.cluster.scheduler.job(job).attempt == 0  # type: ignore[union-attr]


def test_unknown_jobs_are_refused(site: LocalSite) -> None:
    site.bridge.accept(failure(job="4711"))
    site.bridge.advance()
    assert site.written.outcomes == [Outcome.REFUSED]
    assert "does not know" in site.written.results[0].detail


def test_events_of_other_jobs_change_nothing(site: LocalSite) -> None:
    site.bridge.accept(JobEvent(id="e", job="other", kind=EventKind.ENDED, time=time.time()))
    assert site.bridge.advance() is None


def test_what_another_bridge_did_meanwhile_is_not_done_again(site: LocalSite) -> None:
    job = site.failed_job()
    other = Bridge(site.cluster.actuator, ON, site.written, site.clock, recall=lambda: site.written.results)
    for bridge in (other, site.bridge):
        bridge.accept(failure(job=job))
    site.bridge.advance()
    site.cluster.scheduler.wait(lambda jobs: True, 1)
    other.advance()
    assert site.written.outcomes[:2] == [Outcome.STARTED, Outcome.DONE]
    assert Outcome.STARTED not in site.written.outcomes[2:]
    assert site.cluster.scheduler.job(job).attempt == 1  # type: ignore[union-attr]
