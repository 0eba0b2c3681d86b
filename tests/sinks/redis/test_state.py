import math
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedmate_records import (
    Alarm,
    Checkpoint,
    Decision,
    DecisionResult,
    DurationMode,
    Estimate,
    EventKind,
    JobEvent,
    JobMetric,
    Position,
    Record,
    Slowdown,
    Workload,
)
from sinks.redis.connect import open_redis
from sinks.redis.keys import Keys
from sinks.redis.memory import MemoryState
from sinks.redis.read_state import read_job, read_jobs
from tests.metric_values import value
from tests.servers.redis import RedisServer
from tests.sinks.made import T0, line

from .store import Store, event, failure, metric, on_the_wire, prefixes, store

__all__ = ["store"]

pytestmark = pytest.mark.redis


def test_a_pipes_word_gives_way_to_the_schedulers_in_any_order(store: Store) -> None:
    def pipe(kind: str, time: float, **fields: Any) -> JobEvent:
        return msgspec.structs.replace(event(kind, time, **fields), scheduler="pipe")

    store.update(pipe("started", 5, command="python train.py", nodes=["n1"]))
    assert (store.job().state, store.job().scheduler, store.job().command) == ("running", "pipe", "python train.py")
    store.update(pipe("ended", 60, exit_code=3, signal=0))
    assert (store.job().state, store.job().exit_code) == ("ended", 3)
    store.update(event("started", 4, nodes=["n1", "n2"]))
    assert (store.job().state, store.job().exit_code, store.job().nodes) == ("running", None, ["n1", "n2"])
    store.update(event("ended", 70, exit_code=0, signal=0, state="COMPLETED"), pipe("ended", 80, exit_code=3, signal=0))
    assert (store.job().state, store.job().exit_code, store.job().scheduler) == ("ended", 0, "slurm")
    store.update(pipe("started", 90, attempt=1), pipe("ended", 95, attempt=7, exit_code=1))
    assert (store.job().state, store.job().attempt, store.job().exit_code) == ("ended", 0, 0)
    store.update(event("started", 100, attempt=1))
    assert (store.job().state, store.job().attempt, store.job().scheduler) == ("running", 1, "slurm")


def test_a_pipe_does_not_end_the_slowdown_of_a_job(store: Store) -> None:
    slowed = Slowdown(
        id="s",
        job="7",
        packed_job="8",
        time=T0 + 20,
        before_s=0.1,
        after_s=0.2,
        ratio=0.5,
        threshold=0.65,
        steps_after=40,
    )
    store.update(event("started", 4), slowed)
    before = store.job().slowed_by
    store.update(msgspec.structs.replace(event("ended", 60, attempt=3, exit_code=1), scheduler="pipe"))
    assert store.job().slowed_by == before == "8"


def test_of_an_unknown_job_nothing_is_known(store: Store) -> None:
    assert store.job() is None
    assert read_jobs(store.client, prefix=store.prefix) == []


def test_a_job_from_submission_to_its_end(store: Store) -> None:
    store.update(event("submitted", 0, command="train.sh", user="ada", directory="/home/ada"))
    assert (store.job().state, store.job().user) == ("submitted", "ada")
    store.update(
        event("started", 5, nodes=["n1", "n2"], gpus=8.0),
        metric(9, 10, step_time_s=0.5, throughput=128.0, throughput_unit="samples/s", loss=2.5),
    )
    status = store.job()
    assert (status.state, status.started, status.nodes, status.gpus) == ("running", T0 + 5, ["n1", "n2"], 8.0)
    assert (status.step, status.step_time_s, status.throughput, status.throughput_unit, status.loss) == (
        10,
        0.5,
        128.0,
        "samples/s",
        2.5,
    )
    assert (status.command, status.exit_code, status.ended) == ("train.sh", None, None)
    store.update(event("ended", 60, exit_code=1, signal=0, state="FAILED"))
    status = store.job()
    assert (status.state, status.exit_code, status.signal, status.scheduler_state, status.ended) == (
        "ended",
        1,
        0,
        "FAILED",
        T0 + 60,
    )
    assert status.nodes == ["n1", "n2"]


def test_a_new_attempt_does_not_wear_the_old_ones_end(store: Store) -> None:
    store.update(
        event("started", 0, nodes=["n1"]), metric(1, 500), event("ended", 9, exit_code=1, state="NODE_FAIL"), failure(1)
    )
    store.update(event("requeued", 10, attempt=1), event("started", 12, attempt=1, nodes=["n2"]))
    status = store.job()
    assert (status.state, status.attempt, status.nodes, status.exit_code, status.scheduler_state) == (
        "running",
        1,
        ["n2"],
        None,
        "",
    )
    assert (status.verdict, status.verdict_attempt) == ("infrastructure", 0)
    store.update(metric(13, 3, attempt=1), metric(14, 501, attempt=0))
    assert (store.job().step, store.job().metric_attempt) == (3, 1)


def test_what_a_job_trains_changes_nothing_of_what_it_does(store: Store) -> None:
    store.update(event("submitted", 0), event("started", 5))
    before = store.job()
    store.update(event("described", 9, workload=Workload(model_name="vit")))
    assert store.job() == before


def test_packing_comes_and_goes(store: Store) -> None:
    store.update(event("started", 0), event("packed", 5, packed_with="8"))
    assert store.job().packed_with == "8"
    store.update(event("unpacked", 9, packed_with="8"))
    assert store.job().packed_with == ""
    store.update(event("packed", 5, packed_with="8"))
    assert store.job().packed_with == ""


def test_the_job_shows_its_lowest_rank_and_the_spread_of_all(store: Store) -> None:
    store.update(
        *(metric(1 + rank, 100 + rank, rank=rank, step_time_s=0.5 + rank / 10, node=f"n{rank}") for rank in (3, 1, 2))
    )
    assert store.job().metric_rank == 1
    store.update(metric(2, 99, rank=0, step_time_s=0.5), metric(9, 200, rank=3, step_time_s=1.0))
    status = store.job()
    assert (status.metric_rank, status.step) == (0, 99)
    assert [(rank.rank, rank.step) for rank in status.ranks] == [(0, 99), (1, 101), (2, 102), (3, 200)]
    assert status.rank_spread == pytest.approx(2.0)
    assert (status.slowest_rank.rank, status.slowest_rank.time) == (3, T0 + 9)


def test_verdicts_by_revision_and_one_that_is_taken_back(store: Store) -> None:
    root = line(12, 3, "NVRM: Xid 79")
    store.update(failure(2, root=root, restartable=True, confidence=0.9, node="n1"), failure(1, "user_script"))
    status = store.job()
    assert (status.verdict, status.verdict_revision, status.verdict_restartable) == ("infrastructure", 2, True)
    assert (status.verdict_line, status.verdict_place) == ("NVRM: Xid 79", "job-logs/0/3:12")
    store.update(failure(3, "none"))
    assert (store.job().verdict, store.job().verdict_message) == ("", "")


def test_a_later_attempt_does_not_hide_the_failure_of_an_earlier_one(store: Store) -> None:
    store.update(failure(1, attempt=0, message="a lost GPU"), failure(1, attempt=1), failure(2, "none", attempt=1))
    assert [(one.attempt, one.verdict, one.message) for one in store.job().failures] == [
        (0, "infrastructure", "a lost GPU")
    ]
    store.update(failure(2, "none", attempt=0))
    assert store.job().failures == []


@pytest.mark.parametrize("kind", ["unpacked", "ended", "requeued"])
def test_a_slowdown_is_over_with_its_packing_or_its_attempt(store: Store, kind: str) -> None:
    slow = Slowdown(
        id="s", job="7", packed_job="8", time=T0, before_s=1, after_s=2, ratio=0.5, threshold=0.65, steps_after=40
    )
    store.update(slow)
    assert store.job().slowed_by == "8"
    store.update(event(kind, 4))
    store.update(slow)
    assert store.job().slowed_by == ""


def test_the_last_durable_checkpoint_stays_while_the_next_one_is_saved(store: Store) -> None:
    def save(number: int, state: str, attempt: int = 0, **fields: Any) -> Checkpoint:
        began = T0 + 100 * attempt + 10 * number
        return Checkpoint(
            id=f"{attempt}{number}{state}", job="7", attempt=attempt, number=number, state=state, since=began, time=began + 2,
            step=number * 100, path=f"/run/{number * 100}", **fields,
        )  # fmt: skip

    first = save(1, "durable", durable_by="completion", usual_duration_s=2.0, interval_s=60.0)
    store.update(event("started", 0), save(1, "started"), first, save(2, "started"), save(1, "started"))
    status = store.job()
    assert (status.checkpoint_step, status.checkpoint_path, status.checkpoint_by) == (100, "/run/100", "completion")
    assert (status.save, status.save_since) == ("started", T0 + 20)
    assert status.lost_s(T0 + 30) == 20.0
    store.update(save(2, "failed"), metric(30, step=350))
    assert (store.job().save, store.job().checkpoint_step, store.job().lost_steps) == ("failed", 100, 250)
    store.update(event("started", 100, attempt=1))
    assert (store.job().checkpoint_path, store.job().checkpoint_attempt) == ("/run/100", 0)
    assert store.job().lost_s(T0 + 130) == 30.0, "an attempt that saved none counts from its start"
    store.update(save(1, "durable", attempt=1, durable_by="progress"))
    assert (store.job().checkpoint_attempt, store.job().lost_s(T0 + 130)) == (1, 20.0)


def test_an_outcome_belongs_to_its_decision(store: Store) -> None:
    def decision(name: str, time: float) -> Decision:
        return Decision(id=name, action="restart", job="7", time=T0 + time, expires=T0 + 99, policy="p", reason="why")

    def result(name: str, time: float, outcome: str) -> DecisionResult:
        return DecisionResult(
            id=f"{name}/{outcome}",
            decision_id=name,
            action="restart",
            job="7",
            time=T0 + time,
            outcome=outcome,
            actuator="slurm",
        )

    store.update(result("a", 2, "done"), result("a", 2, "started"), decision("a", 1))
    assert (store.job().decision, store.job().outcome, store.job().outcome_actuator) == ("restart", "done", "slurm")
    store.update(decision("b", 5))
    assert (store.job().decision_id, store.job().outcome) == ("b", "")
    store.update(result("b", 6, "refused"))
    assert store.job().outcome == "refused"


def test_slowdowns_estimates_and_warnings(store: Store) -> None:
    store.update(
        Slowdown(
            id="s", job="7", packed_job="8", time=T0, before_s=1, after_s=2, ratio=0.5, threshold=0.65, steps_after=40
        ),
        Estimate(
            id="e", job="7", time=T0, duration_s=3600.0, duration_low_s=3000.0, gpu_utilisation=88.5, method="similar"
        ),
        event("lines_lost", 4, lines=120, detail="the spool is full"),
    )
    status = store.job()
    assert (status.slowed_by, status.slowdown_ratio) == ("8", 0.5)
    assert (status.estimate_duration_s, status.estimate_low_s, status.estimate_high_s, status.estimate_method) == (
        3600.0,
        3000.0,
        None,
        "similar",
    )
    assert (status.warning, status.lines_lost, status.warning_detail) == ("lines_lost", 120, "the spool is full")


def test_modes_of_an_estimate_are_kept_until_an_estimate_has_none(store: Store) -> None:
    modes = [DurationMode(0.25, 5.0, 60.0), DurationMode(0.75, 18_000.0, 32_400.0)]
    estimate = Estimate(id="e", job="7", time=T0, duration_s=3600.0, modes=modes, method="resubmission")
    store.update(estimate)
    assert store.job().estimate_modes == modes
    store.update(msgspec.structs.replace(estimate, id="f", revision=2, modes=[], remaining_s=60.0, method="progress"))
    assert store.job().estimate_modes == []


def test_the_newest_revision_of_the_newest_attempt_is_the_estimate_in_force(store: Store) -> None:
    def estimate(attempt: int, revision: int, **fields: Any) -> Estimate:
        return Estimate(
            id=f"e{attempt}{revision}", job="7", attempt=attempt, revision=revision, time=T0 + revision, **fields
        )

    store.update(
        estimate(0, 4, remaining_s=50.0, remaining_low_s=45.0, done=0.5, method="progress"),
        estimate(0, 0, duration_s=90.0, gpu_utilisation=80.0, method="similar"),
        estimate(0, 3, remaining_s=70.0, method="progress"),
        estimate(0, 1, duration_s=80.0, method="similar"),
    )
    status = store.job()
    assert (status.estimate_remaining_s, status.estimate_remaining_low_s, status.estimate_done) == (50.0, 45.0, 0.5)
    assert (status.estimate_gpu_utilisation, status.estimate_time) == (80.0, T0 + 4), (
        "progress says nothing of utilisation"
    )
    store.update(estimate(0, 5, method="unknown"))
    assert (store.job().estimate_remaining_s, store.job().estimate_method) == (None, "unknown")
    store.update(estimate(1, 1, remaining_s=10.0), estimate(0, 6, remaining_s=99.0))
    assert (store.job().estimate_attempt, store.job().estimate_remaining_s) == (1, 10.0)


def test_an_alarm_stands_until_it_is_over(store: Store) -> None:
    def alarm(kind: str, time: float, *, raised: bool) -> Alarm:
        return Alarm(
            id=f"{kind}{time}", job="7", kind=kind, raised=raised, time=T0 + time, since=T0, detail=f"{kind} at {time}"
        )

    store.update(alarm("hang", 1, raised=True), alarm("straggler", 2, raised=True))
    assert store.job().alarms == {"hang": "hang at 1", "straggler": "straggler at 2"}
    store.update(alarm("hang", 3, raised=False))
    assert store.job().alarms == {"straggler": "straggler at 2"}
    store.update(alarm("hang", 2, raised=True))
    assert store.job().alarms == {"straggler": "straggler at 2"}, "one that comes late raises nothing again"


def test_jobs_stand_in_order_of_their_last_update(store: Store) -> None:
    for number, now in (("1", 0), ("2", 10), ("3", 20), ("1", 30)):
        store.now = T0 + now
        store.update(JobMetric(id=f"{number}{now}", job=number, time=T0 + now))
    assert [status.job for status in read_jobs(store.client, 2, prefix=store.prefix)] == ["1", "3"]
    assert [status.job for status in read_jobs(store.client, prefix=store.prefix)] == ["1", "3", "2"]


def test_everything_expires_and_sooner_once_the_job_has_ended(store: Store) -> None:
    keys = Keys(store.prefix)
    store.update(event("started", 0), metric(1, 1))
    assert 690 < store.client.ttl(keys.job("7")) <= 700
    assert 690 < store.client.ttl(keys.ranks("7")) <= 700
    store.update(event("ended", 5))
    assert 90 < store.client.ttl(keys.job("7")) <= 100
    assert 90 < store.client.ttl(keys.ranks("7")) <= 100
    store.update(metric(2, 2))  # A last report that comes after the end.
    assert store.client.ttl(keys.job("7")) <= 100
    store.update(event("started", 9, attempt=1))
    assert store.client.ttl(keys.ranks("7")) > 600
    store.now += 701
    store.update(JobMetric(id="x", job="8", time=store.now))
    assert store.client.zrange(keys.jobs, 0, -1) == ["8"]


STORY: list[Record] = [
    event("submitted", 0, user="ada"),
    event("started", 1, nodes=["n1"]),
    metric(2, 10, step_time_s=0.5),
    event("packed", 3, packed_with="8"),
    metric(4, 20, rank=1, step_time_s=0.6),
    failure(1),
    metric(5, 30, step_time_s=0.7),
    failure(2, "none"),
    event("ended", 6, exit_code=1),
    event("requeued", 7, attempt=1),
    event("started", 8, attempt=1, nodes=["n2"]),
    metric(9, 5, attempt=1),
    failure(1, attempt=1),
]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(replays=st.lists(st.tuples(st.integers(0, len(STORY)), st.integers(1, 6)), max_size=4))
def test_replays_never_turn_the_state_back(redis_store: RedisServer, replays: list[tuple[int, int]]) -> None:
    """After the whole story, any part of it told again, in any cut, changes nothing."""
    placed = [(Position("topic", 0, offset), on_the_wire(record)) for offset, record in enumerate(STORY)]
    with open_redis(redis_store.url) as client:
        store = Store(client, f"test{next(prefixes)}:")
        for message in placed:
            store.state.update([message])
        told = store.job()
        assert (told.state, told.nodes, told.step, told.verdict_attempt) == ("running", ["n2"], 5, 1)
        before = value(store.state.metrics.changes)
        for start, size in replays:
            store.state.update(placed[start : start + size])
        assert store.job() == told
        assert value(store.state.metrics.changes) == before


def test_the_state_kept_in_this_process_is_the_same(store: Store) -> None:
    here = MemoryState()
    for offset, record in enumerate([*STORY, *STORY[2:7]]):
        message = Position("topic", 0, offset), on_the_wire(record)
        store.state.update([message])
        here.update([message])
        assert here.job("7") == store.job()
    assert here.job("8") is None


def test_odd_values_are_kept_as_text_and_read_back(store: Store) -> None:
    job = "it's\r\n*3\r\n$3\r\nDEL\x00 ü"
    record = JobMetric(
        id="odd", job=job, time=1e30, step=10**30, rank=-4, loss=math.inf, throughput=math.nan, step_time_s=0.0
    )
    event = JobEvent(id="e", job=job, kind=EventKind.STARTED, time=-5.0, command="rm -rf / ?", nodes=['a"b,c'])
    store.state.update([(Position("t", 0, 1), record), (Position("t", 0, 2), event)])
    status = read_job(store.client, job, prefix=store.prefix)
    assert status is not None
    assert (status.step, status.metric_rank, status.loss, status.nodes, status.command) == (
        10**30,
        -4,
        math.inf,
        ['a"b,c'],
        "rm -rf / ?",
    )
    assert status.throughput is not None
    assert math.isnan(status.throughput)


def test_records_that_redis_does_not_show_change_nothing(store: Store) -> None:
    from schedmate_records import DeadLetter

    store.update(DeadLetter(id="d", topic="job-logs", partition=0, offset=1, time=T0, reason="r"))
    assert store.client.keys(f"{store.prefix}*") == []


def test_a_long_batch_needs_few_changes(store: Store) -> None:
    store.update(*(metric(step / 10, step, rank=step % 4) for step in range(4000)))
    assert value(store.state.metrics.changes) == 5  # The job, and its four ranks.
    assert store.job().step == 3996
