"""Jobs that use an id one after the other, in Redis."""

import msgspec
import pytest

from schedmate_records import JobEvent, JobMetric, Record

from .store import Store, event, failure, metric, store

__all__ = ["store"]

pytestmark = pytest.mark.redis

DAYS = 60 * 86_400


def of(incarnation: str, record: Record) -> Record:
    return msgspec.structs.replace(record, incarnation=incarnation)


def test_a_new_job_replaces_the_old_one_of_its_id(store: Store) -> None:
    store.update(of("one", event("started", 0)), of("one", metric(10, 5)), of("one", failure(1)))
    assert store.job().verdict
    store.update(of("two", event("submitted", DAYS, user="ben")))
    job = store.job()
    assert (job.incarnation, job.state, job.user, job.verdict, job.step, job.ranks) == (
        "two",
        "submitted",
        "ben",
        "",
        None,
        [],
    )


def test_late_records_of_the_old_job_change_nothing(store: Store) -> None:
    old: list[Record] = [of("one", event("started", 0)), of("one", metric(10, 5))]
    store.update(*old)
    store.update(of("two", event("started", DAYS)))
    store.update(*old, of("one", event("ended", DAYS + 5, exit_code=1)), of("one", failure(1)))
    job = store.job()
    assert (job.incarnation, job.state, job.verdict) == ("two", "running", "")


def test_a_schedulers_incarnation_replaces_that_of_a_pipe(store: Store) -> None:
    own = "pipe:2026-01-01T00:00:00.000Z"
    piped = [msgspec.structs.replace(each, scheduler="pipe") for each in (event("started", 1),)]
    store.update(*(of(own, each) for each in piped), of(own, metric(10, 5)))
    store.update(of("one", event("started", 0)), of(own, metric(20, 6)))
    job = store.job()
    assert (job.incarnation, job.state, job.scheduler) == ("one", "running", "slurm")
    assert job.step is not None


def test_both_jobs_in_one_batch(store: Store) -> None:
    records: list[JobEvent | JobMetric] = [event("started", 0), metric(10, 5)]
    store.update(*(of("one", each) for each in records), of("two", event("started", DAYS)))
    assert (store.job().incarnation, store.job().step) == ("two", None)
