"""Scores the failure handler on the corpus, short and long, as stored logs and as streams cut anywhere.

`python -m benchmarks.corpus.failures.score`; `--verbose` lists each wrong verdict, `--half` takes one half, names take some families.
"""

import argparse
import random
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.corpus.failures.generate import LOGS, labels, load
from benchmarks.corpus.failures.longform import lengthen
from processors.job import JobProcessor
from schedmate.analysis.analysis import analyze
from schedmate.analysis.tail import find_tail
from schedmate.assembly import job_processor
from schedmate.settings.settings import Settings
from schedmate_records import LogChunk
from streams.producers.stored import read_chunks

LARGEST = 120
KEYWORDS = re.compile(
    r"error|exception|traceback|fail|fatal|abort|killed|cancelled|segmentation|no space left|timed? ?out", re.IGNORECASE
)
"""What a script of one line would look for, to compare with: its first match is the root."""


@dataclass
class Score:
    """Counts of one half in one form.

    Attributes:
        wrong: A line for each wrong verdict: which log, what was said, what is true.
    """

    failures: int = 0
    healthy: int = 0
    located: int = 0
    typed: int = 0
    infrastructure: int = 0
    said: int = 0
    said_right: int = 0
    component: int = 0
    restart_asked: int = 0
    restart_right: int = 0
    alarms: int = 0
    unlike: int = 0
    keyword_located: int = 0
    keyword_alarms: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, label: dict[str, Any], failure: dict[str, Any] | None, where: str) -> None:
        """Count the verdict `failure` on the log that `label` tells of."""
        kind = failure["error_type"] if failure else "none"
        accepted = {label["error_type"], *label.get("acceptable_error_types", [])}
        self.said += kind == "infrastructure" and (label["error_type"] == kind or kind not in accepted)
        if label["error_type"] == "none":
            self.healthy += 1
            self.alarms += failure is not None
            if failure:
                self.wrong.append(
                    f"{where}: false alarm {kind} at line {failure['root_line']}: {failure['message'][:90]}"
                )
            return
        self.failures += 1
        faults = [*self._place(label, failure), *self._component(label, failure), *self._restart(label, failure)]
        if kind in accepted:
            self.typed += 1
        else:
            faults.insert(0, f"type {kind}, not {label['error_type']}")
        if faults:
            said = (
                f" (said {failure['signature'] or failure['source']}: {failure['message'][:70]!r})" if failure else ""
            )
            self.wrong.append(f"{where}: {'; '.join(faults)}{said}")

    def _place(self, label: dict[str, Any], failure: dict[str, Any] | None) -> list[str]:
        line = (failure["root_line"] or 0) if failure else 0
        places = [label["acceptable_lines"], *label.get("alt_ranges", [])]
        if any(low <= line <= high for low, high in places):
            self.located += 1
            return []
        return [f"line {line or None}, not in {places[0]}"]

    def _component(self, label: dict[str, Any], failure: dict[str, Any] | None) -> list[str]:
        if label["error_type"] != "infrastructure":
            return []
        self.infrastructure += 1
        if not failure or failure["error_type"] != "infrastructure":
            return []
        self.said_right += 1
        if failure["faulty_component"] in {label["faulty_component"], *label.get("acceptable_components", [])}:
            self.component += 1
            return []
        return [f"component {failure['faulty_component']}, not {label['faulty_component']}"]

    def _restart(self, label: dict[str, Any], failure: dict[str, Any] | None) -> list[str]:
        if label["restartable"] is None:
            return []
        self.restart_asked += 1
        if failure is not None and bool(failure["restartable"]) == label["restartable"]:
            self.restart_right += 1
            return []
        return [f"restartable {failure and failure['restartable']}, not {label['restartable']}"]

    def compare(self, label: dict[str, Any], text: str) -> None:
        """Count what `KEYWORDS` alone would say of the log `text`."""
        found = next((number for number, line in enumerate(text.split("\n"), 1) if KEYWORDS.search(line)), None)
        if label["error_type"] == "none":
            self.keyword_alarms += found is not None
        else:
            places = [label["acceptable_lines"], *label.get("alt_ranges", [])]
            self.keyword_located += any(low <= (found or 0) <= high for low, high in places)

    def cells(self) -> list[str]:
        """Return the figures as text, in the order of `ROWS`."""
        precision, recall = _share(self.said_right, self.said), _share(self.said_right, self.infrastructure)
        both = f"{precision} / {recall} / {_f1(self.said_right, self.said, self.infrastructure):.2f}"
        return [
            _share(self.located, self.failures),
            _share(self.typed, self.failures),
            both,
            _share(self.component, self.infrastructure),
            _share(self.restart_right, self.restart_asked),
            f"{self.alarms} of {self.healthy}",
            f"{self.unlike} of {self.failures + self.healthy}",
            _share(self.keyword_located, self.failures),
            f"{self.keyword_alarms} of {self.healthy}",
        ]


ROWS = (
    "root line in the accepted range",
    "error type",
    "infrastructure: precision / recall / F1",
    "component of infrastructure failures",
    "restartable",
    "false alarms on healthy runs",
    "another verdict as a stream, or from the end",
    "by keywords alone: root line",
    "by keywords alone: false alarms",
)


def score(wanted: Iterable[dict[str, Any]], form: str, processor: JobProcessor, chance: random.Random) -> Score:
    """Return the score of the logs of the labels `wanted` in one `form`, `short` or `long`."""
    result = Score()
    with tempfile.TemporaryDirectory(prefix="score-") as scratch:
        for known in wanted:
            label, file = known, LOGS / known["family"] / known["file"]
            if form == "long":
                text, more = lengthen(file.read_bytes().decode(), label["style"], label["splice"])
                file = Path(scratch) / label["file"]
                file.write_bytes(text.encode())
                label = _shifted(known, more)
            stored = analyze(file, read_chunks(file), processor).contract()["failure"]
            streamed = analyze(file, recut(read_chunks(file), chance), processor).contract()["failure"]
            # With limits this low the end of a log of a few hundred KB is looked at alone, as is that of a log of many MB.
            tail = find_tail(file, processor, long=128 << 10, block=16 << 10) if form == "long" else None
            ended = analyze(file, read_chunks(file), processor, tail).contract()["failure"] if tail else stored
            where = f"{label['family']}/{label['kind']} ({form})"
            result.add(label, stored, where)
            result.compare(label, file.read_bytes().decode())
            if not _verdict(stored) == _verdict(streamed) == _verdict(ended):
                result.unlike += 1
                ways = f"whole {_verdict(stored)}, as a stream {_verdict(streamed)}, from the end {_verdict(ended)}"
                result.wrong.append(f"{where}: {ways}")
    return result


def recut(chunks: Iterable[LogChunk], chance: random.Random) -> Iterator[LogChunk]:
    """Yield the pieces of `chunks` in chunks of 1 to `LARGEST` pieces."""
    number = 0
    for chunk in chunks:
        line, start = chunk.first_line, 0
        while start < len(chunk.lines):
            count = chance.randint(1, LARGEST)
            lines = chunk.lines[start : start + count]
            cut = [index - start for index in chunk.cut if start <= index < start + len(lines)]
            yield LogChunk(
                job=chunk.job,
                producer=chunk.producer,
                seq=number,
                first_line=line,
                first_piece=chunk.first_piece and chunk.first_piece + start,
                lines=lines,
                time=chunk.time,
                cut=cut,
            )
            number, start = number + 1, start + len(lines)
            line += sum(not piece.endswith("\r") for piece in lines) - len(cut)


def _verdict(failure: dict[str, Any] | None) -> tuple[Any, ...] | None:
    return (
        None
        if failure is None
        else tuple(failure[name] for name in ("root_line", "error_type", "faulty_component", "restartable"))
    )


def _shifted(label: dict[str, Any], more: int) -> dict[str, Any]:
    """Return `label` for a log with `more` lines put in before the accepted ones."""
    places = {"acceptable_lines": [label["acceptable_lines"]], "alt_ranges": label.get("alt_ranges", [])}
    moved = {name: [place and [line + more for line in place] for place in those] for name, those in places.items()}
    return label | {"acceptable_lines": moved["acceptable_lines"][0], "alt_ranges": moved["alt_ranges"]}


def _share(right: int, total: int) -> str:
    return f"{right}/{total} = {right / total:.0%}" if total else "-"


def _f1(right: int, said: int, there: int) -> float:
    return 2 * right / (said + there) if said + there else 0.0


def main() -> None:
    """Print the table, and every wrong verdict with `--verbose`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*")
    parser.add_argument("--half", choices=["development", "held-out"], help="one half only")
    parser.add_argument("--form", choices=["short", "long"], help="one form only")
    parser.add_argument("--verbose", action="store_true", help="list every wrong verdict")
    parser.add_argument("--markdown", action="store_true", help="the table for README.md")
    options = parser.parse_args()
    found = [
        label for family in load() if not options.families or family in options.families for label in labels(family)
    ]
    if not found:
        sys.exit(f"expected some of the families {', '.join(load())}")
    halves: Sequence[str] = [options.half] if options.half else ["development", "held-out"]
    forms: Sequence[str] = [options.form] if options.form else ["short", "long"]
    processor, scores = job_processor(Settings().processors), {}
    for half in halves:
        wanted = [label for label in found if label["development"] == (half == "development")]
        for form in forms:
            scores[f"{half}, {form}"] = score(wanted, form, processor, random.Random(5))
    rows = [(name, *cells) for name, *cells in zip(ROWS, *(one.cells() for one in scores.values()), strict=True)]
    console = Console(width=200)
    if options.markdown:
        for row in [("measure", *scores), ("---",) * (len(scores) + 1), *rows]:
            print("| " + " | ".join(row) + " |")
    else:
        table = Table("measure", *scores, box=None, pad_edge=False)
        for row in rows:
            table.add_row(*row)
        console.print(table)
    if options.verbose:
        for one in scores.values():
            for line in one.wrong:
                console.print(line, markup=False, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main()
