"""What follows from two lists of Slurm's jobs."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from schedmate_records import EventKind, JobEvent, Workload
from scheduler_bridge.schedulers.slurm.client import SlurmJob
from scheduler_bridge.schedulers.slurm.events.changes import ReportedJob, changes, described
from tests.scheduler_bridge.schedulers.slurm.slurm_jobs import job


def step(
    known: dict[str, ReportedJob], *jobs: SlurmJob, now: float = 300.0
) -> tuple[list[JobEvent], dict[str, ReportedJob]]:
    return changes(known, {each.job: each for each in jobs}, now, lambda each: each.shards / 4)


def test_a_job_seen_first_when_it_is_over_has_its_whole_life_told() -> None:
    events, _ = step({}, job("1", "FAILED", exit_code=3))
    assert [event.kind for event in events] == [EventKind.SUBMITTED, EventKind.STARTED, EventKind.ENDED]
    assert [event.time for event in events] == [90.0, 100.0, 200.0]


def test_nothing_new_is_nothing_told() -> None:
    _, known = step({}, job("1"), job("2"))
    assert step(known, job("1"), job("2"))[0] == []


def test_both_of_a_pair_are_told_and_the_later_is_the_newcomer() -> None:
    _, known = step({}, job("1"))
    events, known = step(known, job("1"), job("2", started=150.0))
    packed = {event.job: event for event in events if event.kind is EventKind.PACKED}
    assert {name: (event.packed_with, event.newcomer, event.time) for name, event in packed.items()} == {
        "1": ("2", False, 150.0),
        "2": ("1", True, 150.0),
    }
    events, known = step(known, job("1"), job("2", "COMPLETED", exit_code=0, started=150.0))
    assert [(event.job, event.kind) for event in events] == [
        ("1", EventKind.UNPACKED),
        ("2", EventKind.UNPACKED),
        ("2", EventKind.ENDED),
    ]
    assert {event.time for event in events} == {200.0}


def test_jobs_on_other_gpus_of_the_node_are_not_packed() -> None:
    events, _ = step({}, job("1"), job("2", devices=frozenset({("n1", 1)})), job("3", devices=frozenset({("n2", 0)})))
    assert EventKind.PACKED not in {event.kind for event in events}


def test_a_pair_that_met_again_in_another_attempt_is_told_again() -> None:
    _, known = step({}, job("1"), job("2"))
    events, _ = step(known, job("1"), job("2", restarts=1))
    assert [(event.job, event.kind, event.attempt) for event in events] == [
        ("1", EventKind.UNPACKED, 0),
        ("2", EventKind.UNPACKED, 0),
        ("2", EventKind.REQUEUED, 1),
        ("2", EventKind.STARTED, 1),
        ("1", EventKind.PACKED, 0),
        ("2", EventKind.PACKED, 1),
    ]


def test_a_job_that_slurm_forgot_has_ended_somehow() -> None:
    _, known = step({}, job("1"), job("2", "FAILED"))
    events, known = step(known)
    assert [(event.job, event.kind, event.exit_code, event.state) for event in events] == [
        ("1", EventKind.ENDED, None, "")
    ]
    assert known == {}


def test_what_became_known_is_told_of_the_attempt_there_is_and_of_none_that_is_over() -> None:
    _, known = step({}, job("1"), job("2", "FAILED"), job("3", restarts=1))
    trains = Workload(model_name="vit")
    told = described(known, dict.fromkeys(["1", "2", "3", "forgotten"], trains), 300.0)
    assert [(event.id, event.attempt, event.time, event.workload) for event in told] == [
        ("slurm/1@1970-01-01T00:01:30Z/0/described", 0, 300.0, trains),
        ("slurm/3@1970-01-01T00:01:30Z/1/described", 1, 300.0, trains),
    ]


def test_an_id_that_is_used_again_names_another_job() -> None:
    later = 90.0 + 60 * 86_400
    first, known = step({}, job("1"))
    events, known = step(known, job("1", submitted=later, started=later + 10))
    assert [(event.kind, event.attempt) for event in events] == [
        (EventKind.ENDED, 0),
        (EventKind.SUBMITTED, 0),
        (EventKind.STARTED, 0),
    ]
    assert [event.incarnation for event in events] == [
        "1970-01-01T00:01:30Z",
        "1970-03-02T00:01:30Z",
        "1970-03-02T00:01:30Z",
    ]
    assert {event.id for event in first}.isdisjoint(event.id for event in events)


def test_an_id_that_is_used_again_after_restarts_names_another_job() -> None:
    _, known = step({}, job("1", restarts=2, submitted=500.0))
    events, _ = step(known, job("1", "PENDING", submitted=900.0, started=None))
    assert [(event.kind, event.attempt) for event in events] == [(EventKind.ENDED, 2), (EventKind.SUBMITTED, 0)]


def test_a_requeue_changes_the_submit_time_and_not_the_job() -> None:
    _, known = step({}, job("1"))
    events, known = step(known, job("1", restarts=1, submitted=210.0, started=220.0))
    assert [(event.kind, event.attempt) for event in events] == [(EventKind.REQUEUED, 1), (EventKind.STARTED, 1)]
    assert {event.incarnation for event in events} == {"1970-01-01T00:01:30Z"}
    assert step(known, job("1", restarts=1, submitted=210.0, started=220.0))[0] == []


@given(st.lists(st.integers(0, 7), max_size=30), st.data())
def test_told_twice_is_told_under_the_same_ids(moments: list[int], data: st.DataObject) -> None:
    """Whatever is seen of a history, and wherever the watcher forgets: no id stands for two events of different kinds."""
    life = [
        (),
        (job("1", "PENDING", nodes=(), devices=frozenset(), started=None),),
        (job("1"),),
        (job("1"), job("2", started=150.0)),
        (job("1"), job("2", "COMPLETING", started=150.0)),
        (job("1"), job("2", "PENDING", restarts=1, nodes=(), devices=frozenset(), started=None)),
        (job("1", "FAILED", exit_code=1), job("2", restarts=1, started=250.0)),
        (job("1", "FAILED", exit_code=1), job("2", "COMPLETED", restarts=1, started=250.0, exit_code=0)),
    ]
    known: dict[str, ReportedJob] = {}
    seen: dict[str, tuple[Any, ...]] = {}
    for moment in sorted(moments):
        events, after = step(known, *life[moment])
        for event in events:
            what = (event.job, event.attempt, event.kind, event.packed_with, event.exit_code)
            assert seen.setdefault(event.id, what) == what
        if data.draw(st.booleans()):
            known = after
