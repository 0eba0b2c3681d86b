"""Trains the line classifier's model: `python -m benchmarks.classifier.train` (needs scikit-learn: the dependency group `train`).

Writes the weights and the examples that ship in `processors/classify`, and prints the tables of README.md, measured on lines of frameworks
that the measured model has not seen.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

import processors.classify as room
from processors.classify import embedded, linear
from processors.classify.calibration import curves
from processors.classify.grams import BITS, features
from processors.classify.linear import LETTERS

from .data import COMPOSED, Example, examples

ROOM = Path(room.__file__).parent
FOLDS = 6
"""Models fitted to measure; each leaves whole frameworks out."""
ALWAYS = -1
"""Fold of what every model sees and none is measured by: composed examples."""
PENALTY = 100.0
"""Inverse strength of the regularization."""
PROGRESS = 2.0
"""Weight of a progress line where others weigh 1: few of the exemplars are progress, many are `other` in its shape."""
SHIPPED = 4
"""Examples of one class and one tool that ship for embedders, which are slow."""
SHIPPED_FOLDS = 5


def rows_of(known: Sequence[Example]) -> csr_matrix:
    """Return what the model sees of each example."""
    shape = (len(known), 2 << BITS)
    return sum(
        (
            csr_matrix(
                (np.repeat(length / np.sqrt(counts), counts), found, np.concatenate([[0], np.cumsum(counts)])), shape
            )
            for (found, counts), length in features([each.template for each in known])
        ),
        csr_matrix(shape),
    )


def asked_of(known: Sequence[Example]) -> NDArray[np.bool_]:
    """Return which examples the model is judged by and calibrated on: real ones that no signature knows."""
    return np.array([not each.known and each.source != COMPOSED for each in known])


def classes_of(known: Sequence[Example]) -> NDArray[np.int64]:
    return np.array([LETTERS.index(each.letter) for each in known])


def fit(rows: csr_matrix, known: Sequence[Example]) -> LogisticRegression:
    """Return a model fitted on `known`. Many lines of one tool and class weigh by the root of their count, progress by `PROGRESS`."""
    count = Counter((each.group, each.letter) for each in known)
    weight = [(PROGRESS if each.letter == "p" else 1.0) / np.sqrt(count[each.group, each.letter]) for each in known]
    return LogisticRegression(C=PENALTY, max_iter=500).fit(rows, classes_of(known), sample_weight=weight)


def folds_of(known: Sequence[Example], folds: int = FOLDS) -> NDArray[np.int64]:
    """Return the fold of each example: all of one group in one. Composed ones are in `ALWAYS`."""
    found = np.full(len(known), ALWAYS)
    real = np.array([place for place, each in enumerate(known) if each.source != COMPOSED])
    groups = [known[place].group for place in real]
    for fold, (_, out) in enumerate(GroupKFold(folds).split(real, groups=groups)):
        found[real[out]] = fold
    return found


def models(
    rows: csr_matrix, known: Sequence[Example], folds: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.bool_], LogisticRegression]]:
    """Yield, for each fold, which examples are in it and a model that has not seen them."""
    for fold in range(folds.max() + 1):
        out = folds == fold
        yield out, fit(rows[~out], [each for each, is_out in zip(known, out, strict=True) if not is_out])


def left_out(rows: csr_matrix, known: Sequence[Example], folds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each example's scores by a model that has not seen its fold, shape (n, 4); zeros for those in `ALWAYS`."""
    scores = np.zeros((len(known), len(LETTERS)))
    for out, model in models(rows, known, folds):
        scores[out] = model.decision_function(rows[out])
    return scores


def write_weights(target: Path, model: LogisticRegression, probabilities: NDArray[np.float64]) -> None:
    """Write a model; `probabilities` are the curves that calibrate it."""
    weights = model.coef_.T
    scale = (np.abs(weights).max(axis=0) / 127).astype(np.float32)
    np.savez_compressed(
        target,
        weights=np.round(weights / scale).astype(np.int8),
        scale=scale,
        bias=model.intercept_.astype(np.float32),
        curves=probabilities,
    )


def write_left_out(targets: Sequence[Path], known: Sequence[Example], folds: NDArray[np.int64]) -> None:
    """Write a model for each fold that has not seen it, and is calibrated on the other folds."""
    rows, classes, asked = rows_of(known), classes_of(known), asked_of(known)
    fitted, scores = [], np.zeros((len(known), len(LETTERS)))
    for out, model in models(rows, known, folds):
        fitted.append(model)
        scores[out] = model.decision_function(rows[out])
    for fold, (target, model) in enumerate(zip(targets, fitted, strict=True)):
        others = asked & (folds != fold)
        write_weights(target, model, curves(scores[others], classes[others]))


def write_examples(known: Sequence[Example], scores: NDArray[np.float64]) -> None:
    """Write some examples of each class and tool, those first that no signature knows, for models on embeddings."""
    taken: Counter[tuple[str, str]] = Counter()
    kept = []
    real = [pair for pair in zip(known, scores, strict=True) if pair[0].source != COMPOSED]
    for each, row in sorted(real, key=lambda pair: pair[0].known):
        taken[each.group, each.letter] += 1
        if taken[each.group, each.letter] <= SHIPPED:
            kept.append((each, " ".join(f"{score:.2f}" for score in row)))
    folds = folds_of([each for each, _ in kept], SHIPPED_FOLDS)
    rows = (
        f"{one.letter}\t{fold}\t{int(not one.known)}\t{said}\t{one.template}"
        for (one, said), fold in zip(kept, folds, strict=True)
    )
    (ROOM / embedded.EXAMPLES).write_text("\n".join(rows) + "\n")


def main() -> None:
    known = examples()
    rows = rows_of(known)
    scores = left_out(rows, known, folds_of(known))
    asked = asked_of(known)
    write_weights(ROOM / linear.WEIGHTS, fit(rows, known), curves(scores[asked], classes_of(known)[asked]))
    write_examples(known, scores)


if __name__ == "__main__":
    main()
