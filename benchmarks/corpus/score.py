"""Scores the metric tracker and the line classifier on the corpus: `python -m benchmarks.corpus.score` prints a table by framework.

Every framework is scored by models that were trained without it (`left_out.py`; the first run trains them, which needs scikit-learn:
the dependency group `train`). What people wrote with a framework's logs in view cannot be left out: only blind frameworks tell
what that is worth.

Each log is read twice: as it came (`stream`), in chunks of half a second with the time of every piece, and as a file (`stored`),
which holds no arrival times.
"""

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from processors.classify.classifier import LineClassifier
from processors.job import JobProcessor
from processors.state import JobState
from schedmate.analysis.analysis import Analysis, analyze
from schedmate.analysis.classes import classes
from schedmate_records import JobMetric, LogChunk, Position
from streams.producers.chunker import Chunker, ChunkLimits
from streams.producers.pieces import PieceSplitter
from streams.producers.stored import read_chunks

from . import capture
from .left_out import LeftOutProcessors
from .plan import BLIND, SPLITS, Framework, load

SPEED_TOLERANCE = 0.10
"""Of a step time or a rate: what a report averages over and what the clock averages over are never quite the same steps."""
LOSS_TOLERANCE = 0.02
SHIPPED = ChunkLimits()
"""As producers ship."""
LETTERS = {"progress": "p", "warning": "w", "error": "e", "other": "o"}

Verdict = str  # right, wrong, missing


@dataclass
class Scored:
    """What one log scored.

    Attributes:
        framework: Its framework.
        setup: Its set-up.
        split: Its framework's: development, held-out or blind.
        verdicts: Of `speed`, `step` and `loss`, each once as stream and once as stored file.
        said: What was said of progress, as stream and as stored file.
        lines: (label, found) of labelled lines.
        alarms: Failures that were found, where there are none.
        first: Reports that the first speed rested on, line by line; None where none was ever given.
    """

    framework: str
    setup: str
    split: str
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    said: dict[str, dict[str, Any]] = field(default_factory=dict)
    lines: list[tuple[str, str]] = field(default_factory=list)
    alarms: int = 0
    first: int | None = None


def stream_chunks(folder: Path, limits: ChunkLimits = SHIPPED) -> Iterator[LogChunk]:
    """Yield a log's chunks as `schedmate pipe` would have shipped them."""
    captured = capture.read(folder)
    splitter, name = PieceSplitter(), str(folder.name)
    chunker = Chunker(partial(LogChunk, job=name, producer=name), limits=limits)
    arrived = captured.start
    for piece, after in captured.pieces:
        arrived = captured.start + after
        for ready in [*chunker.due(after), *chunker.add(splitter.feed(piece, arrived), after)]:
            yield ready.record
    for ready in [*chunker.add(splitter.finish(arrived), arrived), *chunker.flush()]:
        yield ready.record


def log_file(folder: Path) -> Path:
    """Return the log in `folder`, plain or compressed."""
    return next(folder.glob("log.txt*"))


def first_speed(folder: Path, processor: JobProcessor) -> int | None:
    """Return on how many reports the first speed rests, where every piece is looked at as it comes; None where none is ever given."""
    state = JobState(job=folder.name)
    for offset, chunk in enumerate(stream_chunks(folder, ChunkLimits(pieces=1))):
        for record in processor.process(state, Position(folder.name, 0, offset), chunk):
            if isinstance(record, JobMetric) and (record.step_time_s or record.throughput):
                return record.reports
    return None


def judge(truth: dict[str, Any], progress: dict[str, Any], streamed: bool) -> dict[str, Verdict]:
    """Return whether speed, step and loss are right, wrong, or missing.

    A number that the log does not tell may be left out (null is right there) or be right, but not wrong.
    """
    tells = truth["tells"]
    expected = tells["speed"] or (streamed and tells["step"])
    return {
        "speed": _speed(truth, progress, expected),
        "step": _one_of(progress["last_step"], truth["last_step"], 0.0, tells["step"]),
        "loss": _one_of(
            progress["last_loss"], _printed(truth["last_loss"], progress["last_loss"]), LOSS_TOLERANCE, tells["loss"]
        ),
    }


def _printed(values: list[float], said: float | None) -> list[float]:
    """Return `values`, and each as a log with as many decimals as `said` has would print it."""
    decimals = len(str(said).partition(".")[2]) if said is not None else 0
    return [*values, *(round(value, decimals) for value in values if decimals >= 2)]


def _speed(truth: dict[str, Any], progress: dict[str, Any], expected: bool) -> Verdict:
    times = [truth["step_time_s"], truth["step_time_mean_s"]]
    found = []
    if progress["step_time_s"] is not None:
        found.append(_near(progress["step_time_s"], [*times, *truth.get("also_step_time_s", [])], SPEED_TOLERANCE))
    rate, unit = progress["throughput"], (progress["throughput_unit"] or "").lower()
    if rate is not None:
        things = (
            "tokens"
            if "tok" in unit or "word" in unit
            else "steps"
            if unit.startswith(("it", "step", "batch"))
            else "samples"
        )
        rates = {
            "tokens": [truth["tokens_per_s"] * times[0] / time for time in times if truth["tokens_per_s"]],
            "samples": [truth["samples_per_s"] * times[0] / time for time in times if truth["samples_per_s"]],
            "steps": [1 / time for time in times],
        }
        known = [each for each in rates[things] if each]
        ranks = truth.get("world", 1) if "gpu" in unit or "device" in unit else 1
        if known:
            found.append(_near(rate * ranks, known, SPEED_TOLERANCE))
    if not found:
        return "missing" if expected else "right"
    return "right" if all(found) else "wrong"


def _near(said: float, accepted: list[float], tolerance: float) -> bool:
    return any(math.isclose(said, each, rel_tol=tolerance, abs_tol=1e-9) for each in accepted)


def _one_of(said: float | None, accepted: list[float], tolerance: float, expected: bool) -> Verdict:
    if said is None:
        return "missing" if expected else "right"
    return "right" if _near(said, accepted, tolerance) or (said == 0 and 0 in accepted) else "wrong"


def score(folder: Path, split: str, processor: JobProcessor, classifier: LineClassifier) -> Scored:
    """Return what the log in `folder`, of a framework in `split`, scores."""
    truth = json.loads((folder / "truth.json").read_text())
    scored = Scored(truth["framework"], truth["setup"], split)
    results: dict[str, Analysis] = {
        "stream": analyze(folder, stream_chunks(folder), processor),
        "stored": analyze(folder, read_chunks(log_file(folder)), processor),
    }
    for mode, result in results.items():
        progress = result.contract()["progress"]
        scored.said[mode] = progress
        for aspect, verdict in judge(truth, progress, mode == "stream").items():
            scored.verdicts[f"{mode} {aspect}"] = verdict
        scored.alarms += result.failure is not None
    scored.first = first_speed(folder, processor)
    labels = folder / "labels.tsv"
    if labels.exists():
        found = [letter for letter, _ in classes(read_chunks(log_file(folder)), classifier)]
        for line in labels.read_text().splitlines()[1:]:
            number, name = line.split("\t")[:2]
            scored.lines.append((LETTERS[name], found[int(number) - 1]))
    return scored


def macro_f1(pairs: list[tuple[str, str]]) -> float:
    """Return the mean F1 over the classes that are labelled; pairs are (label, found)."""
    scores = []
    for letter in {label for label, _ in pairs}:
        hits = sum(label == found == letter for label, found in pairs)
        wrong = sum((label == letter) != (found == letter) for label, found in pairs)
        scores.append(2 * hits / (2 * hits + wrong) if hits else 0.0)
    return sum(scores) / len(scores) if scores else math.nan


ASPECTS = [f"{mode} {aspect}" for mode in ("stream", "stored") for aspect in ("speed", "step", "loss")]


def table(scores: list[Scored]) -> str:
    """Return the table: right of all, and wrong numbers in brackets; each split apart, and of the blind one totals only."""
    head = (
        f"{'framework':<24}{'logs':>5} "
        + "".join(f"{aspect:>15}" for aspect in ASPECTS)
        + f"{'by 3rd':>9}{'lines':>8}{'F1':>7}{'alarms':>8}"
    )
    rows = [head]
    for split in SPLITS:
        part = [each for each in scores if each.split == split]
        shown = sorted({each.framework for each in part}) if split != BLIND else []
        rows += [_row(name, [each for each in part if each.framework == name]) for name in shown]
        rows += [_row(f"= {split}", part), ""] if part else []
    return "\n".join([*rows, _row("= all", scores)])


def _row(name: str, scores: list[Scored]) -> str:
    cells = []
    for aspect in ASPECTS:
        counts = Counter(each.verdicts[aspect] for each in scores)
        wrong = f" ({counts['wrong']})" if counts["wrong"] else ""
        cells.append(
            f"{counts['right']}/{len(scores)}{wrong}"
            if len(scores) < 40
            else f"{counts['right'] / len(scores):.1%}{wrong}"
        )
    given = [each.first for each in scores if each.first]
    early = f"{sum(first <= 3 for first in given)}/{len(given)}"
    pairs = [pair for each in scores for pair in each.lines]
    lines = f"{len(pairs):>8}{macro_f1(pairs):>7.3f}" if pairs else f"{'':>15}"
    return (
        f"{name:<24}{len(scores):>5} "
        + "".join(f"{cell:>15}" for cell in cells)
        + f"{early:>9}"
        + lines
        + f"{sum(each.alarms for each in scores):>8}"
    )


def complaint(folder: Path, scored: Scored) -> Iterator[str]:
    """Yield a line for each number of a log that is not right."""
    truth = json.loads((folder / "truth.json").read_text())
    for aspect, verdict in scored.verdicts.items():
        if verdict == "right":
            continue
        said = scored.said[aspect.split()[0]]
        values = {
            "speed": (
                f"said {said['step_time_s']} s, {said['throughput']} {said['throughput_unit']} by {said['method']}; "
                f"truth {truth['step_time_s']} s, {truth['samples_per_s']} samples/s"
            ),
            "step": f"said {said['last_step']}, truth {truth['last_step']}",
            "loss": f"said {said['last_loss']}, truth {truth['last_loss']}",
        }
        yield f"{scored.framework}/{scored.setup}: {aspect} {verdict}: {values[aspect.split()[1]]}"


def _folders(split: str | None, names: set[str]) -> Iterator[tuple[Path, Framework]]:
    """Yield the logs that are asked for. Blind ones are scored together only: who sees which of them fail has looked."""
    for name, framework in sorted(load()[1].items()):
        if split not in (None, framework.split) or (names and framework.split == BLIND):
            continue
        for folder in sorted(path.parent for path in framework.logs.glob("*/truth.json")):
            if not names or {name, f"{name}/{folder.name}"} & names:
                yield folder, framework


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus.score", description=__doc__)
    parser.add_argument("--split", choices=SPLITS, help="score one part only")
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="say for each number that is not right what was said and what is true; of blind logs nothing",
    )
    parser.add_argument(
        "--json", action="store_true", help="print one object a log, but no blind one, instead of the table"
    )
    parser.add_argument(
        "--shipped",
        action="store_true",
        help="score the models that ship, which have seen all frameworks but the blind ones",
    )
    parser.add_argument("names", nargs="*", metavar="FRAMEWORK[/SETUP]", help="score these only")
    options = parser.parse_args()
    processors = LeftOutProcessors(partial(print, file=sys.stderr, flush=True), shipped=options.shipped)
    chosen = list(_folders(options.split, set(options.names)))
    scores = []
    for place, (folder, framework) in enumerate(chosen, 1):
        if sys.stderr.isatty():
            print(
                f"\r{place}/{len(chosen)} {framework.name:<30}",
                end="" if place < len(chosen) else "\r",
                file=sys.stderr,
            )
        processor = processors.of(framework)
        scored = score(folder, framework.split, processor, processor.reader.classifier)
        scores.append(scored)
        if framework.split == BLIND:
            continue
        if options.verbose:
            for line in complaint(folder, scored):
                print(line)
        if options.json:
            print(json.dumps(vars(scored)))
    if not options.json:
        print(table(scores))


if __name__ == "__main__":
    main()
