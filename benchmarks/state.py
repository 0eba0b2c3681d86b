"""What states cost: of many ranks, of many jobs held, in bytes beside the log's, and at a restart."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice

from benchmarks.memory import resident_mb
from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import LogChunk, Position, encode
from streams.runtimes.engine import Engine
from streams.runtimes.results import Results
from streams.transport import Message

RANKS = (1, 512, 10_000)
HELD = (100, 10_000, 100_000)
JOBS = 50_000
"""Jobs whose states a restart reads."""
ACTIVE, SECONDS = 2_000, 30
"""Jobs that print at a time, two chunks a second each, and for how long."""
_COMMITTED = dict.fromkeys(JobProcessor().inputs, 0)


def chunk(job: str, number: int, rank: int = 0, lines: int = 2, time_s: float = 0.0) -> LogChunk:
    """Return a small chunk as a live job sends it twice a second."""
    first = number * lines + 1
    return LogChunk(
        job=job, node=f"n{rank // 8}", rank=rank, producer=f"{job}-{rank}", seq=number, time=1e6 + (time_s or number / 2),
        first_line=first, first_piece=first,
        lines=[
            f"2026-11-02 10:{step // 60 % 60:02d}:{step % 60:02d},123 INFO trainer: epoch 0 step {step}/500000 "
            f"loss={1 + 1 / (1 + step):.4f} lr=1.0e-3 step_time=0.2512s throughput=1234.5 samples/s"
            for step in range(first, first + lines)
        ],
    )  # fmt: skip


def messages(chunks: Iterator[LogChunk]) -> Iterator[Message]:
    """Yield `chunks` as messages of one partition."""
    for offset, made in enumerate(chunks):
        yield Message(Position("job-logs", 0, offset), made.job.encode(), encode(made), 1e6)


def in_batches(made: list[Message], size: int = 50) -> Iterator[list[Message]]:
    """Yield `made` as batches."""
    for begin in range(0, len(made), size):
        yield made[begin : begin + size]


def measure() -> list[tuple[str, str]]:
    """Return (what, figure) rows."""
    return [*_by_ranks(), *_by_jobs(), *_bytes(), *_restart()]


def _microseconds(made: Sequence[tuple[Engine[JobState], list[Message]]]) -> list[float]:
    """Return the processor time of a message in each engine, in microseconds.

    Engines take their batches by turns, so that all meet the same host; medians are not moved by an interruption.
    """
    found: list[list[float]] = [[] for _ in made]
    for batches in zip(*(in_batches(messages, 100) for _, messages in made), strict=True):
        for took, (engine, _), batch in zip(found, made, batches, strict=True):
            began = time.process_time()
            engine.handle(batch)
            took.append((time.process_time() - began) / len(batch) * 1e6)
    return [statistics.median(took) for took in found]


def _by_ranks() -> Iterator[tuple[str, str]]:
    """Each rank's stream has a full window of reports; then they print by turns, and every chunk makes a metric."""
    ready = []
    for ranks in RANKS:
        engine, rounds = Engine(JobProcessor()), max(1, 10_000 // ranks)
        warm = [chunk("j", 0, rank, 20) for rank in range(ranks)]
        then = [
            chunk("j", 10 + number, rank, time_s=10.0 + 2 * number) for number in range(rounds) for rank in range(ranks)
        ]
        made = list(messages(iter([*warm, *then])))
        for batch in in_batches(made[: len(warm)]):
            engine.handle(batch)
        ready.append((engine, made[len(warm) : len(warm) + 9_700]))
    for ranks, cost in zip(RANKS, _microseconds(ready), strict=True):
        yield f"a chunk of two lines, a job of {ranks:,} ranks", f"{cost:.0f} µs"


def _by_jobs() -> Iterator[tuple[str, str]]:
    ready, active = [], 100
    for held in HELD:
        engine = Engine(JobProcessor())
        for batch in in_batches(list(messages(chunk(f"j{job}", 0) for job in range(held)))):
            engine.handle(batch)
        now = (chunk(f"j{job}", 1 + number) for number in range(60) for job in range(held - active, held))
        later = [
            Message(Position("job-logs", 0, held + at), each.job.encode(), encode(each), 1e6)
            for at, each in enumerate(now)
        ]
        ready.append((engine, later))
    for held, cost in zip(HELD, _microseconds(ready), strict=True):
        yield f"a chunk of two lines, {held:,} jobs held, {active} of them active", f"{cost:.0f} µs"


def _bytes() -> Iterator[tuple[str, str]]:
    """The jobs print as fast as the engine takes it: more states are written in a second of processing than ever live."""
    clock = _Clock()
    engine = Engine(JobProcessor(), clock=clock, steady=clock)
    took, read, written = 0.0, 0, 0
    for second in range(SECONDS):
        chunks = (chunk(f"j{job}", second * 2 + half) for half in range(2) for job in range(ACTIVE))
        offset = second * 2 * ACTIVE
        made = [
            Message(Position("job-logs", 0, offset + at), each.job.encode(), encode(each), 1e6)
            for at, each in enumerate(chunks)
        ]
        began = time.process_time()
        for batch in in_batches(made, 500):
            results = engine.handle(batch)
            read += sum(len(message.value) for message in batch)
            written += sum(len(each.value or b"") for each in (*results.states, *results.parts))
            clock.now += 500 / (2 * ACTIVE)
        took += time.process_time() - began
    yield (
        f"{ACTIVE:,} jobs, two chunks a second each: processor time of the engine",
        f"{took / SECONDS:.2f} s a second",
    )
    yield "bytes of states written ÷ bytes of logs read", f"{written / read:.2f}"


class _Clock:
    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        return self.now


def _restart() -> Iterator[tuple[str, str]]:
    """Another process reads the states, so that its memory is its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.state"], capture_output=True, text=True, timeout=900, check=True
    )
    seconds, before, after = map(float, done.stdout.split()[-3:])
    yield (
        f"a restart with the states of {JOBS:,} jobs, the last of three versions each",
        f"{seconds:.1f} s, {after:.0f} MB resident ({before:.0f} MB before)",
    )


def _stored() -> Iterator[Message]:
    """Yield the messages of a state topic: three versions of every job's state."""
    engine = Engine(JobProcessor(), checkpoint_s=0.0, replay_work_s=0.0)
    for version in range(3):
        for job in range(JOBS):
            made = chunk(f"j{job}", version, lines=10)
            place = Position("job-logs", 0, version * JOBS + job)
            yield from _written(engine.handle([Message(place, made.job.encode(), encode(made), 1e6)]))
            if job % 1000 == 999:
                engine = Engine(JobProcessor(), checkpoint_s=0.0, replay_work_s=0.0)


def _written(results: Results) -> Iterator[Message]:
    for each in (*results.states, *results.parts):
        yield Message(Position("job-state", 0, 0), each.key, each.value or b"", 0.0)


def main() -> None:
    """Print seconds and memory of taking the states over."""
    engine: Engine[JobState] = Engine(JobProcessor())
    before, took = resident_mb(), 0.0
    stored = _stored()
    while batch := list(islice(stored, 500)):
        began = time.perf_counter()
        engine.load(0, batch)
        took += time.perf_counter() - began
    began = time.perf_counter()
    restored = engine.restore(0, _COMMITTED)
    took += time.perf_counter() - began
    assert restored.states == JOBS
    print(took, before, resident_mb())


if __name__ == "__main__":
    main()
