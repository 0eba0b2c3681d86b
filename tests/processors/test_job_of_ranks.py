"""A job of several ranks without a scheduler starts with its first rank and ends with its last."""

from collections.abc import Iterator

from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import PIPE, EventKind, JobEvent, JobMetric, LogChunk, Position, Record


class Job:
    """A job whose derived events come back to the processor, as in a worker."""

    def __init__(self) -> None:
        self.processor, self.state = JobProcessor(), JobState(job="j")
        self.offset = 0

    def take(self, record: Record) -> list[Record]:
        self.offset += 1
        topic = "job-logs" if isinstance(record, LogChunk) else "pipe-events"
        made = list(self.processor.process(self.state, Position(topic, 0, self.offset), record))
        return made + [more for each in made if isinstance(each, JobEvent) for more in self.take(each)]

    def rank(self, rank: int, kind: EventKind, time: float, **how: object) -> list[tuple[str, int | None]]:
        event = JobEvent(
            id=f"pipe/j/0/{kind}/p{rank}", job="j", kind=kind, time=time, scheduler=PIPE, rank=rank, nodes=["n1"], **how
        )  # type: ignore[arg-type]
        return list(_events(self.take(event)))


def _events(made: list[Record]) -> Iterator[tuple[str, int | None]]:
    return ((each.kind.value, each.exit_code) for each in made if isinstance(each, JobEvent))


def test_the_job_ends_with_its_last_rank() -> None:
    job = Job()
    assert job.rank(0, EventKind.RANK_STARTED, 1.0) == [("started", None)]
    assert job.rank(1, EventKind.RANK_STARTED, 1.5) == []
    assert job.rank(0, EventKind.RANK_ENDED, 9.0, exit_code=0, signal=0) == []
    assert not job.processor.ended(job.state)
    assert job.rank(1, EventKind.RANK_ENDED, 10.0, exit_code=0, signal=0) == [("ended", 0)]
    assert job.processor.ended(job.state)
    assert job.rank(1, EventKind.RANK_ENDED, 10.0, exit_code=0, signal=0) == [], "it came twice"


def test_the_job_has_the_exit_code_of_the_first_rank_that_failed() -> None:
    job = Job()
    for rank in range(3):
        job.rank(rank, EventKind.RANK_STARTED, 1.0)
    job.rank(2, EventKind.RANK_ENDED, 5.0, exit_code=0, signal=0)
    job.rank(1, EventKind.RANK_ENDED, 6.0, exit_code=3, signal=0)
    assert job.rank(0, EventKind.RANK_ENDED, 7.0, exit_code=1, signal=0) == [("ended", 3)]


def test_the_last_reports_are_read_when_the_last_rank_ends() -> None:
    job = Job()
    job.rank(0, EventKind.RANK_STARTED, 1.0)
    steps: list[int | None] = []
    for place in range(50):
        lines = [f"step {10 * place + 10}/500 loss 1.5 0.01 s/it"]
        chunk = LogChunk(
            job="j", time=1.0 + 0.1 * place, lines=lines, first_line=place + 1, first_piece=place + 1, producer="p0"
        )
        steps += [each.step for each in job.take(chunk) if isinstance(each, JobMetric)]
    assert steps[-1] != 500, "the last reports wait for more"
    ended = JobEvent(
        id="pipe/j/0/rank_ended/p0", job="j", kind=EventKind.RANK_ENDED, time=7.0, scheduler=PIPE, rank=0, exit_code=0
    )
    assert [each.step for each in job.take(ended) if isinstance(each, JobMetric)] == [500]
