"""On which nodes a job says that it is, and when."""

from collections.abc import Sequence

from processors.job import JobProcessor
from processors.state import JobState
from records import EventKind, JobEvent, LogChunk, Placement, Position, Record

T = 1_700_000_000.0


class Job:
    """A job whose records come in the order of the calls."""

    def __init__(self) -> None:
        self.processor, self.state, self.offset = JobProcessor(), JobState(job="17"), 0

    def take(self, record: Record) -> list[Placement]:
        self.offset += 1
        made = self.processor.process(self.state, Position("job-logs", 0, self.offset), record)
        return [one for one in made if isinstance(one, Placement)]

    def chunk(self, time: float, node: str = "n1", attempt: int = 0) -> list[Placement]:
        return self.take(LogChunk(job="17", attempt=attempt, node=node, lines=["x"], time=time))

    def ended(self, time: float, attempt: int = 0) -> list[Placement]:
        return self.take(JobEvent(id="e", job="17", attempt=attempt, kind=EventKind.ENDED, time=time))


def shown(said: Sequence[Placement]) -> list[tuple[str, float, float, float | None]]:
    return [(one.node, one.since, one.seen, one.until) for one in said]


def test_a_job_says_where_it_is_at_first_hourly_and_at_its_end() -> None:
    job = Job()
    started = JobEvent(id="e", job="17", kind=EventKind.STARTED, time=T - 100, nodes=["n1", "n2"])
    assert shown(job.chunk(T)) == [("n1", T, T, None)]
    assert job.chunk(T + 5) == []
    assert shown(job.take(started)) == [("n1", T - 100, T, None), ("n2", T - 100, T, None)]
    assert shown(job.chunk(T + 3700)) == [("n1", T - 100, T + 3700, None), ("n2", T - 100, T + 3700, None)]
    assert [one.until for one in job.ended(T + 4000)] == [T + 4000, T + 4000]
    assert job.ended(T + 4001) == []
    assert job.chunk(T + 9000) == [], "late lines open nothing again"
    assert shown(job.chunk(T + 9000, node="n3")) == [("n3", T + 9000, T + 9000, T + 4000)]


def test_a_newer_attempt_ends_the_one_before_whichever_is_heard_of_first() -> None:
    job = Job()
    (first,) = job.chunk(T)
    assert (first.attempt, first.until) == (0, None)
    said = job.chunk(T + 100, node="n4", attempt=1)
    assert [(one.attempt, one.node, one.until) for one in said] == [(0, "n1", T + 100), (1, "n4", None)]
    assert job.chunk(T + 50) == []

    job = Job()
    assert [(one.attempt, one.until) for one in job.chunk(T + 100, node="n4", attempt=1)] == [(1, None)]
    assert [(one.attempt, one.node, one.until) for one in job.chunk(T)] == [(0, "n1", T + 100)]
    assert job.chunk(T + 300, attempt=3)[0].until == T + 300
    assert job.chunk(T + 1) == [], "an attempt before the last two is forgotten"


def test_a_placement_carries_the_run_that_the_scheduler_names() -> None:
    job = Job()
    assert [one.sluid for one in job.chunk(T)] == [""]
    claimed = JobEvent(id="p", job="17", kind=EventKind.STARTED, time=T, scheduler="pipe", sluid="s0000000000000")
    assert job.take(claimed) == [], "a pipe names no run"
    started = JobEvent(
        id="e", job="17", kind=EventKind.STARTED, time=T, nodes=["n1", "n2"], scheduler="slurm", sluid="sJ3SK1QYD16X00"
    )
    assert {(one.node, one.sluid) for one in job.take(started)} == {("n1", "sJ3SK1QYD16X00"), ("n2", "sJ3SK1QYD16X00")}
    assert {one.sluid for one in job.ended(T + 50)} == {"sJ3SK1QYD16X00"}
