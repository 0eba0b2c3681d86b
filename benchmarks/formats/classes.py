"""Scores the line classifier on made-up formats: `python -m benchmarks.formats.classes` prints which reports were found, by layout.

A line that tells of the training is progress. One of an evaluation, in whatever format, is not, and neither is a configuration, a
save or a line between.
"""

import argparse
from collections import Counter, defaultdict

from processors.classify.classifier import LineClassifier
from processors.classify.context import PROGRESS, ClassifyContext
from processors.read.roles import Phase
from schedmate.assembly import line_classifier
from schedmate.settings.settings import Settings

from .generate import GeneratedLog, generate
from .score import FIRST, chunks

Counted = Counter[tuple[Phase, bool]]
"""Lines of a phase that were taken for progress, and that were not."""


def score(log: GeneratedLog, classifier: LineClassifier) -> Counted:
    """Return how many lines of each phase are progress to `classifier`, and how many are not."""
    context = ClassifyContext()
    letters = "".join(classifier.classify(chunk.lines, context) for chunk in chunks(log))
    return Counter((line.phase, letter == PROGRESS) for line, letter in zip(log.lines, letters, strict=True))


def row_of(name: str, logs: list[Counted]) -> str:
    """Return a row: the share of reports that were found, and of other lines that were taken for reports; each log counts the same."""
    cells = []
    for phase in Phase:
        shares = [each[phase, True] / lines for each in logs if (lines := each[phase, True] + each[phase, False])]
        cells.append(f"{sum(shares) / len(shares):>12.1%}" if shares else f"{'':>12}")
    return f"{name:<16}{len(logs):>6}" + "".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.formats.classes", description=__doc__)
    parser.add_argument("--logs", type=int, default=200, help="how many made-up formats (default: 200)")
    options = parser.parse_args()
    classifier = line_classifier(Settings().processors)
    found: dict[str, list[Counted]] = defaultdict(list)
    for seed in range(FIRST, FIRST + options.logs):
        log = generate(seed)
        found[log.layout].append(score(log, classifier))
    print(f"{'said progress':<16}{'logs':>6}" + "".join(f"{phase.value:>12}" for phase in Phase))
    for layout, logs in sorted(found.items()):
        print(row_of(layout, logs))
    print(row_of("= all", [each for logs in found.values() for each in logs]))


if __name__ == "__main__":
    main()
