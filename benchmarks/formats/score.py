"""Scores the product on made-up formats: `python -m benchmarks.formats.score` prints a table by layout.

Each log is read as a stream, in chunks as producers ship, with the time of every line. A wrong number is the worst kind: null is better.
Nothing was made for a format of these: what fails here in general fails on a new user's logs, too.
"""

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpus.score import judge
from processors.job import JobProcessor
from schedmate.analysis.analysis import analyze
from schedmate.assembly import job_processor
from schedmate.settings.settings import Settings
from schedmate_records import LogChunk

from .generate import GeneratedLog, generate

LINES = 500
"""Lines of a chunk."""
FIRST = 50_000
"""Seeds that are scored begin here: the proposer is trained on others."""
ASPECTS = ("speed", "step", "loss")


def chunks(log: GeneratedLog) -> Iterator[LogChunk]:
    """Yield a made-up log as a producer ships it."""
    place = 1
    for start in range(0, len(log.lines), LINES):
        lines = log.lines[start : start + LINES]
        yield LogChunk(
            job=str(log.seed),
            producer=str(log.seed),
            lines=[line.text for line in lines],
            time=lines[0].time,
            after_ms=[round(1000 * (line.time - lines[0].time)) for line in lines],
            first_line=place,
            first_piece=place,
        )
        place += len(lines)


def score(log: GeneratedLog, processor: JobProcessor) -> dict[str, str]:
    """Return of speed, step and loss whether what is said of a made-up log is right, wrong or missing."""
    progress = analyze(Path(f"seed {log.seed}"), chunks(log), processor).contract()["progress"]
    return judge(log.truth, progress, streamed=True)


def table(scores: dict[str, list[dict[str, str]]]) -> str:
    """Return a row a layout: right of all, and wrong ones in brackets."""
    rows = [f"{'layout':<16}{'logs':>6}" + "".join(f"{aspect:>16}" for aspect in ASPECTS)]
    for layout, verdicts in [*sorted(scores.items()), ("= all", [each for part in scores.values() for each in part])]:
        cells = []
        for aspect in ASPECTS:
            count = Counter(verdict[aspect] for verdict in verdicts)
            cells.append(f"{count['right'] / len(verdicts):.1%} ({count['wrong']})")
        rows.append(f"{layout:<16}{len(verdicts):>6}" + "".join(f"{cell:>16}" for cell in cells))
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.formats.score", description=__doc__)
    parser.add_argument("--logs", type=int, default=200, help="how many made-up formats (default: 200)")
    parser.add_argument("--verbose", action="store_true", help="name the seeds that are not right")
    options = parser.parse_args()
    processor = job_processor(Settings().processors)
    scores: dict[str, list[dict[str, str]]] = defaultdict(list)
    for seed in range(FIRST, FIRST + options.logs):
        log = generate(seed)
        verdicts = score(log, processor)
        scores[log.layout].append(verdicts)
        if options.verbose and set(verdicts.values()) != {"right"}:
            print(
                f"seed {seed} ({log.layout}): {', '.join(f'{aspect} {verdict}' for aspect, verdict in verdicts.items())}"
            )
        if sys.stderr.isatty():
            print(f"\r{seed - FIRST + 1}/{options.logs}", end="", file=sys.stderr)
    print(table(scores))


if __name__ == "__main__":
    main()
