"""The honest jobs of a run."""

import random
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchmarks.chaos.batch import BatchJob
from benchmarks.chaos.jobs import Job, Way
from benchmarks.chaos.sender import Sender
from schedmate_records import EventKind, InvalidRecord, JobEvent, decode
from streams.transport import Message, outgoing

WAYS = (Way.PIPE, Way.FILE, Way.BATCH, Way.FULL_DISK, Way.PIPE, Way.KILLED)
"""How jobs go, by turns."""


class Crowd:
    """Keeps some jobs running at a time, and says as a scheduler would when they start and end."""

    def __init__(self, environment: Mapping[str, str], scratch: Path, sender: Sender, seed: int, at_once: int) -> None:
        self._all: list[Job] = []
        self._running: list[Job] = []
        self._environment, self._scratch, self._sender, self._at_once = environment, scratch, sender, at_once
        self._chance = random.Random(f"jobs {seed}")
        for name in ("files", "printed"):
            (scratch / name).mkdir()

    @property
    def jobs(self) -> list[Job]:
        """All jobs that there were."""
        return [job for job in self._all if job.name]

    def step(self, *, start: bool) -> int:
        """See which jobs have ended, and `start` others in their place; return how many run."""
        for job in [each for each in self._running if each.over(self._scratch)]:
            self._running.remove(job)
            self._tell(job, EventKind.ENDED)
        while start and len(self._running) < self._at_once:
            job = self._next()
            self._tell(job, EventKind.STARTED)
            job.start(self._environment, self._scratch)
            self._all.append(job)
            self._running.append(job)
        return len(self._running)

    def shipping(self, *, to_kill: bool) -> list[int]:
        """Return the shipping processes of running jobs: of those whose may be killed, or of the others."""
        found = [job.shipping_pid() for job in self._running if (job.way is Way.KILLED) == to_kill]
        return [pid for pid in found if pid is not None]

    def untold(self, events: Iterable[Message]) -> int:
        """Return how many batch jobs have ended of which `events` do not say so."""
        told = {event.job for each in events for event in _ends(each)}
        return sum(job.way is Way.BATCH and job.name not in told for job in self.jobs)

    def kill(self) -> None:
        """End all: the run is given up."""
        for job in self._running:
            job.kill()

    def _next(self) -> Job:
        number = len(self._all)
        way = WAYS[number % len(WAYS)]
        cause = self._chance.choice(("none", "xid", "xid", "nccl", "oom", "assert"))
        count = self._chance.randint(80, 300)
        pause = self._chance.choice((0.02, 0.05))
        if way is Way.BATCH:
            return BatchJob("", way, cause, count, pause, number=number)
        return Job(f"honest-{number}", way, cause, count, pause)

    def _tell(self, job: Job, kind: EventKind) -> None:
        if job.way is Way.BATCH:
            return  # the watcher does
        ended = {"exit_code": job.exit_code, "signal": 0, "state": "FAILED" if job.exit_code else "COMPLETED"}
        event = JobEvent(
            id=f"chaos/{job.name}/0/{kind}", job=job.name, kind=kind, time=time.time(), scheduler="chaos", nodes=["n1"],
            **(ended if kind is EventKind.ENDED else {}),  # type: ignore[arg-type]
        )  # fmt: skip
        self._sender.send(outgoing(event))


def _ends(message: Message) -> Iterator[JobEvent]:
    """Yield what a message of `job-events` says, where it is the end of a job; hostile ones are among them."""
    try:
        event = decode(JobEvent, message.value or b"")
    except InvalidRecord:
        return
    if event.kind is EventKind.ENDED:
        yield event
