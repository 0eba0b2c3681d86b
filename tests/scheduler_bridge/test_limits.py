"""One user's jobs leave room for the others, and what finds no room waits."""

import time

import pytest

from schedmate_records import Action, Component, Decision, DecisionResult, ErrorType, EventKind, JobEvent, Mode, Outcome
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.schedulers import JobView, SchedulerJobState
from tests.metric_values import by_label, value

from .findings import NOW, Written, failure, slowdown
from .no_scheduler import NoScheduler

HOUR = 3600.0
ON_JOBS = {action: Mode.ACT for action in Action if not action.on_node}
SETTINGS = BridgeSettings(modes=ON_JOBS)
SHARE = SETTINGS.actions_per_user_hour


class Cluster(NoScheduler):
    """Failed jobs called `USER/NUMBER`, each of which a restart puts back in the queue. Counts how often it is asked."""

    def __init__(self) -> None:
        self.attempts: dict[str, int] = {}
        self.asked = 0
        self.slow = 0.0
        self.state = SchedulerJobState.FAILED

    def job(self, job: str) -> JobView:
        self.asked += 1
        time.sleep(self.slow)
        user, attempt = job.partition("/")[0], self.attempts.get(job, 0)
        return JobView(job, self.state, attempt=attempt, nodes=("n1",), user=user)

    def restart(self, job: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str = "") -> JobView:
        self.attempts[job] = self.attempts.get(job, 0) + 1
        return JobView(job, SchedulerJobState.PENDING, attempt=self.attempts[job])

    def cancel_packing(self, job: str, key: str) -> JobView:
        return self.restart(job, (), key)

    def evict(self, job: str, key: str, checkpoint: str = "", delay: float = 0.0) -> JobView:
        return self.restart(job, (), key)


class LimitsSite:
    """A bridge on that cluster, with a clock that the test sets."""

    def __init__(self, settings: BridgeSettings = SETTINGS) -> None:
        self.now, self.settings = NOW, settings
        self.cluster, self.written = Cluster(), Written()
        self.bridge = self.new_bridge(remember=True)

    def new_bridge(self, *, remember: bool) -> Bridge:
        bridge = Bridge(self.cluster, self.settings, self.written, lambda: self.now)
        for record in self.written.records if remember else ():
            assert isinstance(record, Decision | DecisionResult)
            bridge.remember(record)
        return bridge

    def fail(self, *jobs: str, node: str = "n1", node_evidence: bool = False) -> None:
        for job in jobs:
            self.bridge.accept(failure(job=job, time=self.now, node=node, node_evidence=node_evidence))
        self.bridge.advance()

    @property
    def results(self) -> list[DecisionResult]:
        return [result for result in self.written.results if not result.action.on_node]

    def outcomes(self, job: str) -> list[Outcome]:
        return [result.outcome for result in self.results if result.job == job]


def jobs(user: str, count: int = 10) -> list[str]:
    return [f"{user}/{number}" for number in range(count)]


DONE = [Outcome.STARTED, Outcome.DONE]


def test_ten_jobs_that_fake_an_xid_leave_room_for_a_true_failure() -> None:
    site = LimitsSite()
    site.fail(*jobs("mallory"))
    assert len(site.cluster.attempts) == SHARE
    assert {result.user for result in site.results} == {"mallory"}
    assert {result.node for result in site.results} == {""}
    site.fail("ada/0", node_evidence=True)
    assert site.outcomes("ada/0") == DONE
    assert [result.node for result in site.results if result.job == "ada/0"] == ["n1", "n1"]
    assert by_label(site.bridge.metrics.actions_last_hour) == {"cluster": SHARE + 1, "user": SHARE, "node": 1}


def test_what_is_over_a_limit_waits_is_written_down_once_and_carried_out_later() -> None:
    site = LimitsSite()
    site.fail(*jobs("mallory"))
    waiting = [job for job in jobs("mallory") if site.outcomes(job) == [Outcome.DEFERRED]]
    assert len(waiting) == 10 - SHARE
    assert by_label(site.bridge.metrics.deferred) == {"user-limit": 10 - SHARE}
    asked = site.cluster.asked
    for _ in range(10):
        site.now += 60
        assert site.bridge.advance() == HOUR - (site.now - NOW)
    assert site.cluster.asked == asked, "the scheduler is left in peace meanwhile"
    site.bridge = site.new_bridge(remember=True)
    site.bridge.advance()
    assert all(site.outcomes(job) == [Outcome.DEFERRED] for job in waiting)
    assert site.cluster.asked == asked, "what was written down tells whose they are"
    site.now = NOW + HOUR
    site.bridge.advance()
    assert all(site.outcomes(job) == [Outcome.DEFERRED, *DONE] for job in waiting)
    assert site.bridge.advance() is None


def test_what_waits_too_long_expires_and_says_what_it_waited_for() -> None:
    site = LimitsSite(BridgeSettings(modes=ON_JOBS, ttl_seconds=600))
    site.fail(*jobs("mallory", SHARE + 1))
    assert site.bridge.advance() == 600
    site.now += 601
    assert site.bridge.advance() is None
    last = site.results[-1]
    assert last.outcome is Outcome.EXPIRED
    assert "user-limit" in last.detail
    assert len(site.cluster.attempts) == SHARE


def test_a_verdict_taken_back_withdraws_what_waits_for_a_limit() -> None:
    site = LimitsSite()
    site.fail(*jobs("mallory", SHARE + 1))
    late = f"mallory/{SHARE}"
    site.bridge.accept(failure(job=late, revision=2, error_type=ErrorType.NONE, restartable=None, time=NOW))
    site.now += HOUR
    assert site.bridge.advance() is None
    assert site.outcomes(late) == [Outcome.DEFERRED, Outcome.REFUSED]


def test_the_cluster_has_a_limit_of_its_own() -> None:
    site = LimitsSite()
    for number in range(6):
        site.fail(*jobs(f"user{number}", 4))
    assert len(site.cluster.attempts) == SETTINGS.actions_per_hour
    assert by_label(site.bridge.metrics.deferred) == {"cluster-limit": 4}
    assert value(site.bridge.metrics.waiting) == 4


def test_the_end_of_a_packing_counts_for_whom_it_favours() -> None:
    site = LimitsSite()
    site.cluster.state = SchedulerJobState.RUNNING
    for number in range(SHARE + 1):
        victim, newcomer = f"mallory/{number}", f"user{number}/0"
        site.bridge.accept(slowdown(id=victim, job=victim, packed_job=newcomer, time=NOW))
    site.bridge.advance()
    assert len(site.cluster.attempts) == SHARE
    assert {result.user for result in site.results} == {"mallory"}
    assert by_label(site.bridge.metrics.deferred) == {"user-limit": 1}


def test_a_budget_for_ever_is_final() -> None:
    site = LimitsSite()
    for attempt in range(3):
        site.bridge.accept(failure(job="ada/0", attempt=attempt))
        site.bridge.advance()
    assert site.outcomes("ada/0") == [*DONE, *DONE, Outcome.REFUSED]
    assert by_label(site.bridge.metrics.refused) == {"budget": 1}
    assert site.bridge.advance() is None


def test_a_node_is_blamed_before_others_only_by_its_own_evidence() -> None:
    site = LimitsSite(BridgeSettings(modes=ON_JOBS, actions_per_node_hour=2))
    site.fail("a/0", "b/0", "c/0")
    assert [site.outcomes(job) for job in ("a/0", "b/0", "c/0")] == [DONE] * 3
    site.fail("d/0", "e/0", "f/0", node_evidence=True)
    assert [site.outcomes(job) for job in ("d/0", "e/0", "f/0")] == [DONE, DONE, [Outcome.DEFERRED]]
    site.fail("g/0", node="n2", node_evidence=True)
    assert site.outcomes("g/0") == DONE


def test_thousands_of_failures_at_once_are_dealt_with_in_time() -> None:
    """An array whose tasks all fail. What each costs must not grow with how many wait."""

    def seconds(count: int) -> float:
        site = LimitsSite()
        began = time.process_time()
        site.fail(*jobs("mallory", count))
        for job in jobs("mallory", 250):
            site.bridge.accept(JobEvent(id=job, job=job, kind=EventKind.ENDED, time=NOW))
        site.bridge.advance()
        assert value(site.bridge.metrics.waiting) == count - SHARE
        return time.process_time() - began

    seconds(500)
    assert seconds(4_000) < 24 * seconds(500)


def test_work_that_takes_long_is_left_for_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scheduler_bridge.bridge.WORK", 0.01)
    site = LimitsSite()
    site.cluster.slow = 0.02
    for number in range(10):
        site.bridge.accept(failure(job=f"user{number}/0"))
    assert site.bridge.advance() == 0
    assert 0 < len(site.cluster.attempts) < 10


def test_a_job_whose_name_fits_no_decision_leads_to_none() -> None:
    site = LimitsSite()
    site.fail("m" * 300)
    site.bridge.accept(failure(job="ada/0", node="n" * 300, faulty_component=Component.GPU))
    assert site.bridge.advance() is None
    assert site.written.records == []


def test_a_thousand_old_decisions_replayed_after_all_is_forgotten_do_nothing() -> None:
    """The topic of results is lost, or older than what it keeps: only the decisions come again."""
    site = LimitsSite(BridgeSettings(modes=ON_JOBS, actions_per_hour=10_000, user_share=1.0))
    for number in range(250):
        site.fail(f"user{number}/0")
    honest = [decision for decision in site.written.decisions if not decision.action.on_node]
    done = dict(site.cluster.attempts)
    old = [
        Decision(
            id=f"old/{number}",
            action=Action.EVICT,
            job=f"user{number % 250}/0",
            attempt=1,
            time=NOW - 3 * 86400 + number,
            expires=NOW - 2 * 86400 if number % 2 else NOW + 86400,
            mode=Mode.ACT,
            policy="replayed",
            reason="",
        )
        for number in range(750)
    ]
    site.bridge = site.new_bridge(remember=False)
    for decision in [*honest, *old, *honest]:
        site.bridge.accept(decision)
    before = len(site.results)
    assert site.bridge.advance() is None
    outcomes = [result.outcome for result in site.results[before:]]
    assert site.cluster.attempts == done
    assert len(outcomes) == len(honest) + len(old)
    assert set(outcomes) == {Outcome.REFUSED, Outcome.EXPIRED}
    assert by_label(site.bridge.metrics.refused) == {"bounds": 375, "job-state": 250}
