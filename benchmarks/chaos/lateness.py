"""How long after its line each honest verdict was written, and how much of that no fault explains."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.chaos.faults import Window
from benchmarks.chaos.jobs import Job
from benchmarks.chaos.program import CAUSES
from schedmate_records import Failure, LogChunk, decode
from streams.transport import Message

ON_THE_WAY = ("worker", "broker", "collector", "pipe")
"""What a line passes on its way to a verdict: how targets' names begin. Faults of others, and of clocks, excuse no delay."""
AFTERMATH_S = 20.0
"""How long after a fault a delay may still be its doing: a session runs out, partitions move, states are read back."""


@dataclass(frozen=True)
class Wait:
    """The time from a job's last line to the verdict on it.

    Attributes:
        job: The job.
        took_s: All of it; None where there is no verdict.
        alone_s: What of it lies in no fault of what it passes, and not soon after one.
    """

    job: Job
    took_s: float | None
    alone_s: float

    def text(self) -> str:
        """Return it in words."""
        took = (
            "no verdict" if self.took_s is None else f"{self.took_s:.1f} s, {self.alone_s:.1f} s of it without a fault"
        )
        return f"{self.job.name} ({self.job.cause}, {self.job.way}): {took}"


def verdict_waits(
    jobs: Sequence[Job],
    chunks: Mapping[str, Sequence[LogChunk]],
    failures: Sequence[Message],
    windows: Sequence[Window],
) -> Iterator[Wait]:
    """Yield a `Wait` for each job that fails and whose last line arrived."""
    told: dict[str, float] = {}
    for message in sorted(failures, key=lambda message: message.time):
        failure = decode(Failure, message.value)
        if failure.root is not None and failure.root.text in CAUSES.values():
            told.setdefault(failure.job, message.time)
    for job in jobs:
        arrived = any(CAUSES[job.cause] in chunk.lines for chunk in chunks.get(job.name, []))
        if not CAUSES[job.cause] or not arrived:
            continue  # where the line itself is missing, the check of lines says so
        printed, at = job.printed_at, told.get(job.name)
        if at is None:
            yield Wait(job, None, 0.0)
        else:
            yield Wait(job, at - printed, at - printed - covered(printed, at, windows))


def covered(begin: float, end: float, windows: Sequence[Window]) -> float:
    """Return how many seconds between two times lie in a fault of what is on the way, or soon after one."""
    at, found = begin, 0.0
    for window in sorted(windows, key=lambda each: each.begin):
        if not window.target.startswith(ON_THE_WAY):
            continue
        since, till = max(window.begin, at), min(window.end + AFTERMATH_S, end)
        if till > since:
            found += till - since
            at = till
    return found
