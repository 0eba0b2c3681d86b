"""Trains the line classifier's model: `python -m benchmarks.classifier.train` (needs scikit-learn: the dependency group `train`).

Writes the weights and the examples that ship in `processors/classify`, and prints the tables of README.md, measured on lines of frameworks
that the measured model has not seen.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

import processors.classify as room
from processors.classify import embedded, linear
from processors.classify.calibration import curves
from processors.classify.grams import BITS, grams
from processors.classify.linear import LETTERS

from .data import Example, examples

ROOM = Path(room.__file__).parent
FOLDS = 12
"""Models fitted to measure; each leaves whole frameworks out."""
PENALTY = 50.0
"""Inverse strength of the regularization."""
SHIPPED = 10
"""Examples of one class and one tool that ship for embedders, which are slow."""
SHIPPED_FOLDS = 5


def features(known: Sequence[Example]) -> csr_matrix:
    """Return the n-grams of each example, as rows of unit length."""
    found = [grams(each.template) for each in known]
    values = np.concatenate([np.full(len(one), 1 / np.sqrt(len(one))) for one in found])
    starts = np.cumsum([0] + [len(one) for one in found])
    return csr_matrix((values, np.concatenate(found), starts), shape=(len(known), 1 << BITS))


def classes_of(known: Sequence[Example]) -> NDArray[np.int64]:
    return np.array([LETTERS.index(each.letter) for each in known])


def fit(rows: csr_matrix, known: Sequence[Example]) -> LogisticRegression:
    """Return a model fitted on `known`. Many lines of one tool and class weigh by the root of their count."""
    count = Counter((each.group, each.letter) for each in known)
    weight = [1 / np.sqrt(count[each.group, each.letter]) for each in known]
    return LogisticRegression(C=PENALTY, max_iter=500).fit(rows, classes_of(known), sample_weight=weight)


def folds_of(known: Sequence[Example], folds: int = FOLDS) -> NDArray[np.int64]:
    """Return the fold of each example: all of one group in one."""
    groups = [each.group for each in known]
    found = np.zeros(len(known), np.int64)
    for fold, (_, out) in enumerate(GroupKFold(folds).split(groups, groups=groups)):
        found[out] = fold
    return found


def left_out(rows: csr_matrix, known: Sequence[Example], folds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each example's scores by a model that has not seen its fold, shape (n, 4)."""
    scores = np.zeros((len(known), len(LETTERS)))
    for fold in np.unique(folds):
        out = folds == fold
        model = fit(rows[~out], [each for each, is_out in zip(known, out, strict=True) if not is_out])
        scores[out] = model.decision_function(rows[out])
    return scores


def write_weights(rows: csr_matrix, known: Sequence[Example], scores: NDArray[np.float64]) -> None:
    """Write the model fitted on all examples, calibrated by the `scores` of models that had not seen them."""
    asked = np.array([not each.known for each in known])
    model = fit(rows, known)
    weights = model.coef_.T
    scale = (np.abs(weights).max(axis=0) / 127).astype(np.float32)
    np.savez_compressed(
        ROOM / linear.WEIGHTS,
        weights=np.round(weights / scale).astype(np.int8),
        scale=scale,
        bias=model.intercept_.astype(np.float32),
        curves=curves(scores[asked], classes_of(known)[asked]),
    )


def write_examples(known: Sequence[Example], scores: NDArray[np.float64]) -> None:
    """Write some examples of each class and tool, those first that no signature knows, for models on embeddings."""
    taken: Counter[tuple[str, str]] = Counter()
    kept = []
    for each, row in sorted(zip(known, scores, strict=True), key=lambda pair: pair[0].known):
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
    rows = features(known)
    scores = left_out(rows, known, folds_of(known))
    write_weights(rows, known, scores)
    write_examples(known, scores)


if __name__ == "__main__":
    main()
