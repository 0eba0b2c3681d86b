"""On which nodes a job says that it is, and when."""

from collections.abc import Sequence

import pytest

from processors.job import JobProcessor
from processors.placements import CLAIMS, REPEATED_A_RECORD, Placements
from processors.state import JobState
from schedmate_records import PIPE, EventKind, JobEvent, LogChunk, Placement, Position, Record
from tests.metric_values import value

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

    def started(self, time: float, nodes: Sequence[str], attempt: int = 0, scheduler: str = "slurm") -> list[Placement]:
        event = JobEvent(
            id="e", job="17", attempt=attempt, kind=EventKind.STARTED, time=time, nodes=list(nodes), scheduler=scheduler
        )
        return self.take(event)

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


MADE_UP = 9_000


@pytest.mark.parametrize("by", ["chunk", "pipe"])
@pytest.mark.parametrize("attempts", [1, 3, 60])
@pytest.mark.parametrize("step_s", [0.0, 3601.0, -61.0])
def test_claims_of_nodes_are_few_whatever_time_and_attempt_they_name(by: str, attempts: int, step_s: float) -> None:
    job, made = Job(), 0
    for number in range(MADE_UP):
        time, node, attempt = T + 1e6 + step_s * number, f"made-up-{number}", number * attempts // MADE_UP
        if by == "chunk":
            made += len(job.chunk(time, node, attempt))
        else:
            made += len(job.started(time, [node], attempt, PIPE))
    assert made <= 3 * (CLAIMS + MADE_UP / 50) + REPEATED_A_RECORD * MADE_UP * (step_s > 0)
    assert (
        sum(len(each.state_of(job.processor.stage(Placements)).claimed) for each in job.state.attempts.values())
        <= CLAIMS + MADE_UP / 50
    )
    assert value(job.processor.stage(Placements).metrics.refused) > 0


def test_a_job_of_many_nodes_is_known_everywhere_by_its_chunks() -> None:
    """The claims of a second attempt that begins at once come back within some seconds."""
    job, nodes = Job(), [f"n{number}" for number in range(2500)]
    for attempt in range(2):
        placed, second = set[str](), 0
        while placed != set(nodes):
            placed |= {one.node for node in nodes for one in job.chunk(T + second, node, attempt)}
            second += 1
            assert second < 20


def test_made_up_claims_cost_a_schedulers_nodes_nothing() -> None:
    job = Job()
    nodes = [f"n{number}" for number in range(2500)]
    for number in range(6000):
        job.chunk(T, f"made-up-{number}")
    placed = job.started(T - 100, nodes)
    assert {one.node for one in placed} >= set(nodes)
    assert all(one.reported == (one.node in nodes) for one in placed)
    assert len({one.node for one in job.ended(T + 10)} & set(nodes)) == 2500


def test_a_schedulers_word_on_a_claimed_node_is_told() -> None:
    job = Job()
    (claimed,) = job.chunk(T)
    (reported,) = job.started(T - 10, ["n1"])
    assert (claimed.reported, reported.reported, reported.since) == (False, True, T)


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
