"""Scores the line classifier alone on the corpus: `python -m benchmarks.corpus.classes` prints macro-F1 and what was taken for what.

Every framework is scored by a model that was trained without it (`left_out.py`), as `benchmarks.corpus.score` does, in a tenth of its time.
Of blind frameworks totals only are printed.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from processors.classify.classifier import LineClassifier
from processors.classify.linear import LinearModel
from schedmate.analysis.classes import classes
from schedmate.assembly import line_classifier
from schedmate.settings.settings import Settings
from streams.producers.stored import read_chunks

from .left_out import fold_of, lines_models
from .plan import BLIND, SPLITS, Framework, load
from .score import LETTERS, log_file, macro_f1

ORDER = "ewpo"
NAMES = {letter: name for name, letter in LETTERS.items()}
Pair = tuple[str, str]


def pairs_of(folder: Path, classifier: LineClassifier) -> list[Pair]:
    """Return (label, found) of the labelled lines of the log in `folder`."""
    labels = folder / "labels.tsv"
    if not labels.exists():
        return []
    found = [letter for letter, _ in classes(read_chunks(log_file(folder)), classifier)]
    rows = (line.split("\t") for line in labels.read_text().splitlines()[1:])
    return [(LETTERS[name], found[int(number) - 1]) for number, name, *_ in rows]


def confusion(pairs: Sequence[Pair]) -> str:
    """Return a table: what is labelled down, what was found across, with each class's F1."""
    count = Counter(pairs)
    rows = [f"{'':<10}" + "".join(f"{NAMES[letter]:>10}" for letter in ORDER) + f"{'F1':>8}"]
    for label in ORDER:
        hits = count[label, label]
        wrong = sum(value for pair, value in count.items() if label in pair and pair[0] != pair[1])
        if any(pair[0] == label for pair in count):
            cells = "".join(f"{count[label, found]:>10}" for found in ORDER)
            rows.append(f"{NAMES[label]:<10}{cells}{2 * hits / (2 * hits + wrong):>8.3f}")
    return "\n".join(rows)


def score(framework: Framework, linear: LinearModel | None) -> list[Pair]:
    """Return (label, found) of the labelled lines of a framework, by a model that has not seen it."""
    classifier = line_classifier(Settings().processors, linear)
    folders = sorted(path.parent for path in framework.logs.glob("*/truth.json"))
    return [pair for folder in folders for pair in pairs_of(folder, classifier)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus.classes", description=__doc__)
    parser.add_argument("--split", choices=SPLITS, help="score one part only")
    parser.add_argument(
        "--shipped", action="store_true", help="score the model that ships, which has seen all but blind ones"
    )
    options = parser.parse_args()
    parts: dict[str, dict[str, list[Pair]]] = {}
    known = [each for _, each in sorted(load()[1].items()) if options.split in (None, each.split)]
    seen = not options.shipped and any(each.split != BLIND for each in known)
    models = lines_models(partial(print, file=sys.stderr, flush=True)) if seen else []
    for framework in known:
        linear = models[fold_of(framework.name)] if models and framework.split != BLIND else None
        parts.setdefault(framework.split, {})[framework.name] = score(framework, linear)
    for split in SPLITS:
        if split not in parts:
            continue
        for name, pairs in parts[split].items() if split != BLIND else ():
            wrong = Counter(pair for pair in pairs if pair[0] != pair[1])
            told = ", ".join(
                f"{count} {NAMES[label]} as {NAMES[found]}" for (label, found), count in sorted(wrong.items())
            )
            if told:
                print(f"{name:<24}{len(pairs):>5} lines  F1 {macro_f1(pairs):.3f}  {told}")
        total = [pair for pairs in parts[split].values() for pair in pairs]
        print(f"= {split}: {len(total)} lines, macro-F1 {macro_f1(total):.3f}\n{confusion(total)}\n")


if __name__ == "__main__":
    main()
