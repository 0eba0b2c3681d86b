"""Jobs whose collectives time out are restarted once each, however their lines and events interleave: from lines to the scheduler."""

import random
from collections.abc import Iterator

from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import Action, EventKind, Failure, JobEvent, LogChunk, Mode, Outcome, Position, Record, topic_of
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.schedulers import JobView, SchedulerJobState
from tests.scheduler_bridge.findings import NOW, Written
from tests.scheduler_bridge.test_limits import Cluster as FailedJobs

SETTINGS = BridgeSettings(modes={Action.RESTART: Mode.ACT}, min_confidence=0.6, actions_per_hour=1000, user_share=1.0)
TIMED_OUT = [
    "[Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=77, OpType=ALLREDUCE, Timeout(ms)=600000)",
    "Some NCCL operations have failed or timed out.",
    "To avoid data inconsistency, we are taking the entire process down.",
]
RANKS = 3
JOBS = 24


class Cluster(FailedJobs):
    """Jobs that run until the test marks them as failed."""

    def __init__(self) -> None:
        super().__init__()
        self.failed: set[str] = set()

    def job(self, job: str) -> JobView:
        state = SchedulerJobState.FAILED if job in self.failed else SchedulerJobState.RUNNING
        return JobView(job, state, attempt=self.attempts.get(job, 0), nodes=("n1",), user="ada")


def chunk(job: str, rank: int, lines: list[str], time: float, first: int) -> LogChunk:
    return LogChunk(
        job=job,
        node=f"n{rank}",
        rank=rank,
        producer=f"p{rank}",
        lines=lines,
        time=time,
        first_line=first,
        first_piece=first,
    )


def records(job: str, chance: random.Random) -> Iterator[Record]:
    """Yield what is printed and reported of a job. Clocks of the hosts differ by up to ten seconds, and some ranks are read late."""
    steps = [f"step {step} | loss {2 / step:.3f} | step_time 0.25 s" for step in range(1, 131)]
    yield JobEvent(
        id=f"{job}/s", job=job, kind=EventKind.STARTED, time=NOW - 900, scheduler="slurm", nodes=["n0", "n1", "n2"]
    )
    for rank in range(RANKS):
        yield chunk(job, rank, steps[:60], NOW - 60, 1)
    late = [(rank, chance.uniform(-10, 10)) for rank in range(RANKS)]
    end = JobEvent(
        id=f"{job}/e", job=job, kind=EventKind.ENDED, time=NOW + 20, scheduler="slurm", nodes=["n0"], exit_code=1, state="FAILED"
    )  # fmt: skip
    parts: list[list[Record]] = [[end]]
    for rank, clock in late:
        printed = [line.format(rank=rank) for line in TIMED_OUT]
        parts.append([chunk(job, rank, steps[60:], NOW + clock, 61), chunk(job, rank, printed, NOW + clock, 131)])
    while parts:
        part = chance.choice(parts)
        yield part.pop(0)
        parts = [each for each in parts if each]


def test_every_job_whose_collectives_time_out_is_restarted_once() -> None:
    cluster, written, chance = Cluster(), Written(), random.Random(19)
    bridge = Bridge(cluster, SETTINGS, written, lambda: NOW)
    processor, withdrawn = JobProcessor(), 0
    for job in (f"ada/{number}" for number in range(JOBS)):
        state = JobState(job=job)
        for place, record in enumerate(records(job, chance)):
            if isinstance(record, JobEvent) and record.kind is EventKind.ENDED:
                cluster.failed.add(job)
            for made in processor.process(state, Position(topic_of(record).name, 0, place), record):
                if isinstance(made, Failure):
                    bridge.accept(made)
        bridge.advance()
    withdrawn = sum(result.outcome is Outcome.REFUSED for result in written.results)
    assert withdrawn > 0, "some verdicts were taken back and repeated"
    assert {job for job, attempt in cluster.attempts.items() if attempt == 1} == {
        f"ada/{number}" for number in range(JOBS)
    }
    assert max(cluster.attempts.values()) == 1
