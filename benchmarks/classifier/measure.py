"""Measures the line classifier's models: `python -m benchmarks.classifier.measure [--embedder DIR]` prints the tables of README.md.

Every line is judged by a model that has not seen its framework (or its family of failures, or its part of the exemplars), and by
probabilities that were calibrated without it.
"""

import argparse
from collections.abc import Mapping, Sequence
from itertools import compress, pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from processors.classify import embedded
from processors.classify.calibration import curves, likely
from processors.classify.context import OTHER
from processors.classify.fallback import THRESHOLD
from processors.classify.kinds import kind_of
from processors.classify.linear import LETTERS
from processors.classify.onnx import OnnxEmbedder

from .data import Example, examples
from .train import ALWAYS, asked_of, classes_of, folds_of, left_out, rows_of

EDGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
NAMES = {"e": "error", "w": "warning", "p": "progress", "o": "other"}

Scores = NDArray[np.float64]


def calibrated(scores: Scores, known: Sequence[Example], folds: NDArray[np.int64]) -> Scores:
    """Return the probabilities of each example, by curves that were fitted without its fold on lines that no signature knows."""
    asked, classes = asked_of(known), classes_of(known)
    said = np.zeros_like(scores)
    for fold in np.unique(folds):
        out = folds == fold
        said[out] = likely(scores[out], curves(scores[asked & ~out], classes[asked & ~out]))
    return said


def decided(said: Scores, threshold: float = THRESHOLD) -> list[str]:
    """Return the letter of each row of probabilities."""
    return [LETTERS[row.argmax()] if row.max() >= threshold else OTHER for row in said]


def nearest(vectors: NDArray[np.float32], known: Sequence[Example], folds: NDArray[np.int64]) -> list[str]:
    """Return the letter of the nearest example of another fold."""
    likeness = vectors @ vectors.T
    likeness[folds[:, None] == folds] = -1
    return [known[place].letter for place in likeness.argmax(axis=1)]


def confusion(known: Sequence[Example], found: Sequence[str]) -> list[str]:
    """Return the rows of a table: what is true down, what was said across, with recall, precision and F1."""
    rows = [
        "| | " + " | ".join(f"said {NAMES[one]}" for one in "ewpo") + " | recall | precision | F1 |",
        "|" + " --- |" * 8,
    ]
    pairs = [(each.letter, said) for each, said in zip(known, found, strict=True)]
    for true in "ewpo":
        counts = [sum(pair == (true, said) for pair in pairs) for said in "ewpo"]
        hits, given = pairs.count((true, true)), sum(said == true for _, said in pairs)
        recall, precision = hits / max(1, sum(counts)), hits / max(1, given)
        rows.append(
            f"| {NAMES[true]} | {' | '.join(map(str, counts))} | {recall:.2f} | {precision:.2f} "
            f"| {2 * hits / max(1, sum(counts) + given):.2f} |"
        )
    return rows


def reliability(known: Sequence[Example], said: Scores) -> list[str]:
    """Return the rows of a table: of lines whose class is said to be so likely, how many are of it."""
    rows = ["| said | " + " | ".join(NAMES[one] for one in "ewpo") + " |", "|" + " --- |" * 5]
    classes = classes_of(known)
    for low, high in pairwise(EDGES):
        cells = []
        for letter in "ewpo":
            place = LETTERS.index(letter)
            within = (said[:, place] >= low) & (said[:, place] < high + (high == 1.0))
            count = int(within.sum())
            cells.append(f"{(classes[within] == place).mean():.2f} of {count}" if count else "none")
        rows.append(f"| {low:.1f} to {high:.1f} | {' | '.join(cells)} |")
    return rows


def by_signatures(known: Sequence[Example]) -> list[str]:
    """Return the letter that signatures alone give each example."""
    kinds = [kind_of(each.template)[0] for each in known]
    return [{"T": "e", "F": "e", "X": "e", "W": "w"}.get(kind, kind if kind in "ewp" else OTHER) for kind in kinds]


def macro_f1(known: Sequence[Example], found: Sequence[str]) -> float:
    """Return the mean F1 over the classes that occur."""
    values = []
    for letter in {each.letter for each in known}:
        hits = sum(each.letter == said == letter for each, said in zip(known, found, strict=True))
        wrong = sum((each.letter == letter) != (said == letter) for each, said in zip(known, found, strict=True))
        values.append(2 * hits / (2 * hits + wrong) if hits else 0.0)
    return sum(values) / len(values)


def compare(
    known: Sequence[Example], found: Mapping[str, Sequence[str]], rates: Mapping[str, float] | None = None
) -> list[str]:
    """Return the rows of a table: macro-F1 of each way on its own and behind the signatures, and its rate where `rates` says it.

    A rate is of new lines a second: those whose template is known cost a look-up, whatever judged it.
    """
    signed, asked = by_signatures(known), asked_of(known)
    heads = ["", "no signature knows", "all", "all, behind signatures", "real runs, behind signatures"]
    heads += ["new lines/s"] if rates else []
    rows = [f"| {' | '.join(heads)} |", "|" + " --- |" * len(heads)]
    real = [place for place, each in enumerate(known) if each.source == "corpus"]
    for name, letters in found.items():
        both = [said if is_asked else first for said, first, is_asked in zip(letters, signed, asked, strict=True)]
        few = [each for each in known if not each.known]
        values = [macro_f1(few, [one for one, is_asked in zip(letters, asked, strict=True) if is_asked])]
        values += [macro_f1(known, letters), macro_f1(known, both)]
        values.append(macro_f1([known[place] for place in real], [both[place] for place in real]))
        rate = [f"{rates[name]:,.0f}"] if rates else []
        rows.append(f"| {' | '.join([name, *(f'{value:.2f}' for value in values), *rate])} |")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.classifier.measure", description=__doc__)
    parser.add_argument("--embedder", type=Path, help="directory of an ONNX model, to compare with")
    options = parser.parse_args()
    known = examples()
    folds = folds_of(known)
    scores = left_out(rows_of(known), known, folds)
    tables = {"n-grams": calibrated(scores, known, folds)}
    alone: dict[str, Sequence[str]] = {}
    if options.embedder:
        vectors = OnnxEmbedder(options.embedder).embed([each.template for each in known])
        by_vector = embedded.left_out(embedded.with_one(vectors), classes_of(known), folds)
        alone["embeddings, the nearest example"] = nearest(vectors, known, folds)
        alone["embeddings, the likeliest class"] = decided(calibrated(by_vector, known, folds), 0.0)
        tables["both"] = calibrated(scores + embedded.SHARE * by_vector, known, folds)
    found: dict[str, Sequence[str]] = {"signatures alone": by_signatures(known)}
    for name, said in tables.items():
        found[f"{name}, the likeliest class"] = decided(said, 0.0)
        found[f"{name}, from {THRESHOLD}"] = decided(said)
    found |= alone
    judged = folds != ALWAYS
    real: dict[str, Sequence[str]] = {name: list(compress(letters, judged)) for name, letters in found.items()}
    print("\n".join(compare(list(compress(known, judged)), real)))
    asked = asked_of(known)
    few = list(compress(known, asked))
    for name, likelihood in tables.items():
        print(
            f"\n{name}\n",
            *confusion(few, decided(likelihood[asked], 0.0)),
            "",
            *reliability(few, likelihood[asked]),
            sep="\n",
        )


if __name__ == "__main__":
    main()
