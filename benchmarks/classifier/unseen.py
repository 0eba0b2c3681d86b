"""Measures the line classifier on tools that it has not seen: `python -m benchmarks.classifier.unseen` prints README.md's first tables.

Each framework of the corpus is read log by log and from end to end (signatures, context, model), by a model and a calibration made without
it. Of every other tool only the lines that no signature knows are judged, by the model alone.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from benchmarks.corpus.plan import LOGS
from benchmarks.corpus.score import LETTERS as BY_NAME
from benchmarks.corpus.score import log_file
from processors.classify.calibration import curves
from processors.classify.classifier import LineClassifier
from processors.classify.fallback import TemplateClassifier
from processors.classify.linear import LETTERS, LinearModel
from schedmate.analysis.classes import classes
from streams.producers.stored import read_chunks

from .data import examples
from .measure import calibrated, decided
from .train import asked_of, classes_of, folds_of, models, rows_of

ORDER = "ewpo"
Pair = tuple[str, str]


class Unseen:
    """Classifies templates by a model that has not seen the framework."""

    def __init__(self, model: LinearModel) -> None:
        self._model = model

    def classify(self, templates: Sequence[str]) -> str:
        """Return one letter a template."""
        return "".join(decided(self._model.probabilities(templates)))


def labelled(framework: str, fallback: TemplateClassifier | None) -> list[Pair]:
    """Return (true, found) of the labelled lines of all logs of `framework`."""
    found: list[Pair] = []
    for path in sorted((LOGS / framework).glob("*/labels.tsv")):
        said = [letter for letter, _ in classes(read_chunks(log_file(path.parent)), LineClassifier(fallback))]
        for row in path.read_text().splitlines()[1:]:
            number, name = row.split("\t")[:2]
            found.append((BY_NAME[name], said[int(number) - 1]))
    return found


def row_of(name: str, pairs: Sequence[Pair]) -> str:
    """Return the row of a table: macro-F1, the recall of each class, and how many lines of class other were said to be errors."""
    count = Counter(pairs)
    true, said = Counter(one for one, _ in pairs), Counter(one for _, one in pairs)
    recalls = [f"{count[one, one] / true[one]:.2f} of {true[one]}" if true[one] else "" for one in ORDER]
    scores = [2 * count[one, one] / (true[one] + said[one]) for one in ORDER if true[one]]
    return f"| {name} | {np.mean(scores):.3f} | {' | '.join(recalls)} | {count['o', 'e']} |"


def header_of(first: str) -> str:
    return f"| {first} | macro-F1 | error | warning | progress | other | other said error |\n|{' --- |' * 7}"


def main() -> None:
    known = examples()
    rows, folds, asked = rows_of(known), folds_of(known), asked_of(known)
    scores, fitted = np.zeros((len(known), len(LETTERS))), []
    for out, model in models(rows, known, folds):
        scores[out] = model.decision_function(rows[out])
        fitted.append(model)
    letters = classes_of(known)
    fallbacks = {}
    for fold, model in enumerate(fitted):
        judged = asked & (folds != fold)
        curve = curves(scores[judged], letters[judged])
        fallbacks[fold] = Unseen(LinearModel(model.coef_.T.astype(np.float32), model.intercept_, curve))
    fold_of = {each.group: int(fold) for each, fold in zip(known, folds, strict=True)}
    frameworks = sorted(path.name for path in LOGS.iterdir() if path.name in fold_of)
    print(header_of("labelled lines of real runs"))
    print(row_of("signatures alone", [pair for name in frameworks for pair in labelled(name, None)]))
    pairs = {name: labelled(name, fallbacks[fold_of[name]]) for name in frameworks}
    print(row_of("with the model", [pair for found in pairs.values() for pair in found]))
    print("\nwrong:", ", ".join(f"{name} {wrong}" for name, found in pairs.items() if (wrong := _wrong(found))))
    said = decided(calibrated(scores, known, folds))
    lines = [
        (each.source, (each.letter, one)) for each, one, is_asked in zip(known, said, asked, strict=True) if is_asked
    ]
    print("\n" + header_of("lines that no signature knows"))
    print(row_of("all", [pair for _, pair in lines]))
    for source in sorted({source for source, _ in lines}):
        print(row_of(source, [pair for of, pair in lines if of == source]))


def _wrong(pairs: Sequence[Pair]) -> int:
    return sum(true != found for true, found in pairs)


if __name__ == "__main__":
    main()
