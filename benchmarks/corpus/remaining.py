"""Scores the estimates of the time that remains on the corpus: `python -m benchmarks.corpus.remaining` prints a table by split.

Each log is read as it came, with its times drawn out twentyfold: the runs last seconds, where trainings last hours, and reports should
be as rare against the pauses of the product. At a quarter, half, three quarters and nine tenths of a run, the estimate in force is held
against the time at which the log ended. `closed` counts those with an upper end, `inside` is the share of ends in their intervals; of the
others `above` is the share that ended no sooner than the lower end. A run that says nothing of its end has no estimate: that is right.
"""

import argparse
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import Estimate, LogChunk, Position

from .plan import BLIND, SPLITS, load
from .score import stream_chunks

STRETCH = 20.0
AT = (0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True)
class Looked:
    """The estimate in force at one moment, against what came: seconds that remained, were expected, and the interval."""

    name: str
    share: float
    truth: float
    said: Estimate | None
    age: float

    @property
    def error(self) -> float:
        """Relative error of what remains."""
        expected = (self.said.remaining_s or 0.0) - self.age if self.said else 0.0
        return abs(max(expected, 0.0) - self.truth) / self.truth

    @property
    def inside(self) -> bool:
        """Whether the end came within the interval."""
        if self.said is None or self.said.remaining_low_s is None:
            return False
        high = math.inf if self.said.remaining_high_s is None else self.said.remaining_high_s
        return self.said.remaining_low_s - self.age <= self.truth <= high - self.age


def stretched(folder: Path) -> Iterator[LogChunk]:
    """Yield a log's chunks, their times drawn out."""
    start = None
    for chunk in stream_chunks(folder):
        start = chunk.time if start is None else start
        after = [int(each * STRETCH) for each in chunk.after_ms]
        yield replace(chunk, time=start + STRETCH * (chunk.time - start), after_ms=after)


def look(folder: Path, processor: JobProcessor) -> list[Looked]:
    """Return the estimate in force at each of `AT`."""
    state, said = JobState(job=folder.name), []
    chunks = list(stretched(folder))
    for offset, chunk in enumerate(chunks):
        made = processor.process(state, Position("job-logs", 0, offset), chunk)
        said += [each for each in made if isinstance(each, Estimate)]
    begin = chunks[0].time
    end = chunks[-1].time + (chunks[-1].after_ms[-1] / 1000 if chunks[-1].after_ms else 0.0)
    found = []
    for share in AT:
        now = begin + share * (end - begin)
        newest = next((each for each in reversed(said) if each.time <= now), None)
        held = newest if newest is not None and newest.remaining_s is not None else None
        found.append(
            Looked(f"{folder.parent.name}/{folder.name}", share, end - now, held, now - held.time if held else 0.0)
        )
    return found


def row(name: str, looked: Sequence[Looked]) -> str:
    """Return a line of the table."""
    told = [each for each in looked if each.said is not None]
    if not told:
        return f"{name:<22}{len(looked):>6}{0:>7}"
    errors = [each.error for each in told]
    closed = [each for each in told if each.said and each.said.remaining_high_s is not None]
    inside = sum(each.inside for each in closed) / max(len(closed), 1)
    above = sum(each.inside for each in told if each not in closed) / max(len(told) - len(closed), 1)
    far = sum(each.error > 1 for each in told)
    return f"{name:<22}{len(looked):>6}{len(told):>7}{statistics.median(errors):>9.1%}{len(closed):>9}{inside:>9.1%}{above:>9.1%}{far:>9}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus.remaining", description=__doc__)
    parser.add_argument("--split", choices=SPLITS, help="score one part only")
    parser.add_argument(
        "--verbose", action="store_true", help="list every estimate outside of its interval; of blind logs none"
    )
    options = parser.parse_args()
    processor = JobProcessor()
    looked: dict[str, list[Looked]] = {split: [] for split in SPLITS}
    for _, framework in sorted(load()[1].items()):
        if options.split in (None, framework.split):
            for truth in sorted(framework.logs.glob("*/truth.json")):
                looked[framework.split] += look(truth.parent, processor)
    print(f"{'':<22}{'looks':>6}{'told':>7}{'error':>9}{'closed':>9}{'inside':>9}{'above':>9}{'over 2x':>9}")
    for split, all_of_it in looked.items():
        for share in AT:
            print(row(f"{split}, at {share:.0%}", [each for each in all_of_it if each.share == share]))
        print(row(f"= {split}", all_of_it), "\n")
        for each in all_of_it:
            if options.verbose and split != BLIND and each.said and not each.inside:
                low, high = (
                    (each.said.remaining_low_s or 0) - each.age,
                    (each.said.remaining_high_s or math.inf) - each.age,
                )
                print(f"  {each.name} at {each.share:.0%}: {each.truth:.0f} s remained, said {low:.0f} to {high:.0f}")


if __name__ == "__main__":
    main()
