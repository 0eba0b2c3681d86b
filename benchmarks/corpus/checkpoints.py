"""Scores what the logs tell of checkpoints: `python -m benchmarks.corpus.checkpoints` prints precision and recall by kind of line.

checkpoints.tsv names every line of the corpus that tells of a save (log, line, what it tells, path, step); a line that it does not name
tells of none. Frameworks are split in halves by a checksum of their names: the words were chosen with the development half in view, the
held-out half was labelled and scored once the words stood (docs/checkpoints.md has its first score).
"""

import argparse
import csv
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from processors.budget import BudgetState
from processors.checkpoints.reader import CheckpointReader, SaveLine
from processors.classified_chunk import ClassifiedChunk
from processors.classify.classifier import LineClassifier
from processors.state import StreamState
from processors.stream_reader import StreamReader
from schedmate_records import Position

from .plan import LOGS
from .score import stream_chunks

LABELS = Path(__file__).parent / "checkpoints.tsv"
HALVES = ("development", "held-out")
KINDS = ("begins", "complete", "part", "tracker", "failed")


@dataclass(frozen=True)
class Label:
    """What one line tells of a save."""

    what: str
    path: str
    step: int | None


@dataclass
class Counts:
    """What was found in one half: by kind, lines that are labelled and found, found only, labelled only; paths and steps of the first."""

    logs: int = 0
    lines: int = 0
    right: Counter[str] = field(default_factory=Counter)
    extra: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    paths: int = 0
    steps: int = 0
    wrong_steps: int = 0


def half(framework: str) -> str:
    """Return which half a framework belongs to."""
    return HALVES[zlib.crc32(framework.encode()) % 2]


def labels() -> dict[str, dict[int, Label]]:
    """Return the labels of each log by line."""
    found: dict[str, dict[int, Label]] = {}
    with LABELS.open(newline="") as file:
        for log, line, what, path, step in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            found.setdefault(log, {})[int(line)] = Label(what, path, int(step) if step else None)
    return found


def views(folder: Path) -> Iterator[ClassifiedChunk]:
    """Yield the chunks of a log with their classes, as the stage gets them."""
    reader, stream, budget = StreamReader(LineClassifier()), StreamState(), BudgetState()
    for offset, chunk in enumerate(stream_chunks(folder)):
        yield reader.read(chunk, Position("job-logs", 0, offset), stream, budget).chunk


def find(folder: Path, reader: CheckpointReader) -> Iterator[tuple[int, str, SaveLine]]:
    """Yield the number, the text and what it tells of each line of a log that tells of a save."""
    for view in views(folder):
        for one in reader.find(view):
            yield view.numbers[one.at], view.lines[one.at], one


def score(wanted: str, verbose: bool) -> Counts:
    """Return what was found in one half; tell each mistake where asked."""
    counts, reader, known = Counts(), CheckpointReader(), labels()
    for folder in sorted(LOGS.glob("*/*")):
        if half(folder.parent.name) != wanted:
            continue
        log = f"{folder.parent.name}/{folder.name}"
        counts.logs += 1
        left = dict(known.get(log, {}))
        counts.lines += len(left)
        found = dict[int, str]()
        for number, text, one in find(folder, reader):
            if found.get(number) == one.report.value:
                continue  # a bar that is drawn again
            found[number] = one.report.value
            label = left.pop(number, None)
            if label is None or label.what != one.report.value:
                counts.extra[one.report.value] += 1
                if label:
                    counts.missed[label.what] += 1
                _tell(
                    verbose,
                    log,
                    number,
                    f"expected {label.what if label else 'nothing'}, found {one.report.value}",
                    text,
                )
                continue
            counts.right[label.what] += 1
            counts.paths += one.path == label.path
            counts.steps += one.step == label.step
            counts.wrong_steps += one.step not in (None, label.step)
            if (one.path, one.step) != (label.path, label.step):
                _tell(
                    verbose,
                    log,
                    number,
                    f"expected {label.path!r} at {label.step}, found {one.path!r} at {one.step}",
                    text,
                )
        for number, label in left.items():
            counts.missed[label.what] += 1
            _tell(verbose, log, number, f"expected {label.what}, found nothing", "")
    return counts


def _tell(verbose: bool, log: str, number: int, mistake: str, text: str) -> None:
    if verbose:
        sys.stdout.write(f"{log}:{number}: {mistake}: {text.strip()[-160:]}\n")


def table(halves: dict[str, Counts]) -> str:
    """Return the scores as a table in Markdown."""
    rows = [
        "| half | logs | kind | lines | precision | recall | paths | steps (wrong) |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, counts in halves.items():
        for kind in KINDS:
            right, extra, missed = counts.right[kind], counts.extra[kind], counts.missed[kind]
            if right + extra + missed:
                rows.append(
                    f"| {name} | | {kind} | {right + missed} | {_share(right, right + extra)} | {_share(right, right + missed)} | | |"
                )
        right, extra, missed = (sum(each.values()) for each in (counts.right, counts.extra, counts.missed))
        rows.append(
            f"| **{name}** | {counts.logs} | all | {right + missed} | {_share(right, right + extra)} | {_share(right, right + missed)} "
            f"| {_share(counts.paths, right)} | {_share(counts.steps, right)} ({counts.wrong_steps}) |"
        )
    return "\n".join(rows)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=HALVES, help="one half only")
    parser.add_argument("--verbose", action="store_true", help="tell each mistake")
    asked = parser.parse_args()
    wanted = [asked.half] if asked.half else HALVES
    print(table({name: score(name, asked.verbose) for name in wanted}))


if __name__ == "__main__":
    main()
