"""Memory of the processors on endless logs: `python -m benchmarks memory`, or `python -m benchmarks.memory 10000000` for as many lines.

One job prints lines of a few templates; another's lines are all of different ones, which is the worst that a log can do to the caches.
"""

import random
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import lines as ordinary
from processors.job import JobProcessor
from processors.state import JobState
from schedmate.assembly import job_processor
from schedmate.settings.settings import Settings
from schedmate_records import LogChunk, Position

LINES = 1_000_000
SETTLED = 0.3
"""Part of the lines after which the caches are full: what grows after it grows for ever."""
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def word(number: int) -> str:
    """Return a word of its own for `number`: letters, because templates do not tell digits apart."""
    letters = ""
    while True:
        number, rest = divmod(number, 26)
        letters += _ALPHABET[rest]
        if not number:
            return letters


def distinct(job: str, count: int) -> Iterator[LogChunk]:
    """Yield `count` chunks of lines of which no two are of one template; every other line reports progress."""
    chance = random.Random(job)
    for number in range(count):
        lines = []
        for place in range(ordinary.CHUNK):
            step = number * ordinary.CHUNK + place
            if step % 2:
                lines.append(
                    f"step {step} loss {chance.random():.4f} {word(step)}={chance.random():.3f} time {chance.random():.3f} s"
                )
            else:
                lines.append(
                    f"INFO worker {place} fetched part {word(step)} of /data/{word(step)}.tar in {chance.random():.3f} s"
                )
        first = number * ordinary.CHUNK + 1
        yield LogChunk(
            job=job, producer=job, seq=number, lines=lines, time=1e6 + number, first_line=first, first_piece=first
        )


def follow(processor: JobProcessor, chunks: Iterator[LogChunk], count: int) -> tuple[int, list[float]]:
    """Process chunks; return the bytes of their lines, and the resident memory in MB at a hundred places."""
    state, size, sampled = JobState(job="memory"), 0, []
    for offset, chunk in enumerate(chunks):
        processor.process(state, Position("job-logs", 0, offset), chunk)
        size += sum(map(len, chunk.lines))
        if offset % max(1, count // 100) == 0:
            sampled.append(resident_mb())
    return size, sampled


def resident_mb() -> float:
    """Return the memory that this process has resident now, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def measure(lines: int = LINES) -> list[tuple[str, str]]:
    """Return (what, figure) rows."""
    processor, count = job_processor(Settings().processors), max(1, lines // ordinary.CHUNK)
    began = resident_mb()
    rows = [("memory before the first line", f"{began:.0f} MB")]
    for name, chunks in (
        ("lines of a few templates", ordinary.chunks("few", count)),
        ("lines of as many templates", distinct("many", count)),
    ):
        size, sampled = follow(processor, chunks, count)
        settled = sampled[int(len(sampled) * SETTLED)]
        rows.append(
            (
                f"memory after {count * ordinary.CHUNK:,} {name}",
                f"{sampled[-1]:.0f} MB for {size / 1e6:,.0f} MB of text; at {SETTLED:.0%} of them {settled:.0f} MB",
            )
        )
    return rows


def main() -> None:
    for what, figure in measure(int(sys.argv[1]) if len(sys.argv) > 1 else LINES):
        print(f"{what}: {figure}")


if __name__ == "__main__":
    main()
