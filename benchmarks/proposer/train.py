"""Trains the proposer of roles and phases: `python -m benchmarks.proposer.train` (needs scikit-learn: the dependency group `train`).

Writes `processors/read/proposer/proposer.npz`, and prints how right it is on frameworks that it has not seen, and how calibrated.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

import processors.read.proposer as room
from processors.read.proposer.features import BUCKETS, NAMES, Floats, column_buckets, template_buckets
from processors.read.proposer.linear import (
    PHASES,
    ROLES,
    TEXT_LENGTH,
    WEIGHTS,
    LinearProposer,
    Softmax,
    binned,
    summary,
)

from .data import GENERATED, SURE, LabelledLog, corpus, generated

FOLDS = 3
"""Models fitted to measure; each leaves whole frameworks out."""
SEEDS = range(1000)
"""Made-up formats that are trained on."""
UNSEEN_SEEDS = range(10_000, 10_150)
"""Made-up formats that are only measured."""
EDGES = 3
STRENGTH = 0.4
"""Inverse strength of the regularization."""
ITERATIONS = 120


@dataclass(frozen=True, slots=True)
class Rows:
    """Columns, or templates, with what is known of them.

    Attributes:
        buckets: Of their text.
        numbers: Shape (rows, features).
        classes: Index of the role or phase; -1 where it is not known.
        weights: How much each counts.
        sure: Which are measured by.
        log: Index of each one's log.
    """

    buckets: list[list[int]]
    numbers: Floats
    classes: NDArray[np.int64]
    weights: Floats
    sure: NDArray[np.bool_]
    log: NDArray[np.int64]

    def of(self, chosen: NDArray[np.bool_]) -> "Rows":
        """Return some of the rows."""
        buckets = [each for each, is_chosen in zip(self.buckets, chosen, strict=True) if is_chosen]
        return Rows(
            buckets,
            self.numbers[chosen],
            self.classes[chosen],
            self.weights[chosen],
            self.sure[chosen],
            self.log[chosen],
        )


def fold_of(group: str) -> int:
    """Return which measured model has not seen a framework; -1 for made-up formats, which all have."""
    return -1 if group.startswith(GENERATED) else crc32(group.encode()) % FOLDS


def columns_of(logs: Sequence[LabelledLog]) -> Rows:
    """Return the number columns of `logs`. Those of one log weigh together by the root of their count."""
    buckets: list[list[int]] = []
    numbers: list[Floats] = []
    known: list[tuple[int, float, int]] = []
    for place, log in enumerate(logs):
        count = sum(len(template.columns) for template in log.series) or 1
        for at, (template, values) in enumerate(zip(log.series, log.numbers, strict=True)):
            numbers.append(values)
            few = 0.3 if template.count < 3 else 1.0
            for column in template.columns:
                buckets.append(column_buckets(template, column))
                role = log.roles[at][column.index]
                weight = few * log.weights[at][column.index]
                known.append((ROLES.index(role) if role else -1, weight / count**0.5, place))
    sure = [
        weight * (sum(len(each.columns) for each in logs[place].series) or 1) ** 0.5 >= SURE
        for _, weight, place in known
    ]
    return _rows(buckets, np.concatenate(numbers), known, sure)


def templates_of(logs: Sequence[LabelledLog], proposed: Sequence[Sequence[Floats]]) -> Rows:
    """Return the templates of `logs`; `proposed` are the probabilities of their columns' roles."""
    buckets: list[list[int]] = []
    numbers: list[Floats] = []
    known: list[tuple[int, float, int]] = []
    for place, (log, roles) in enumerate(zip(logs, proposed, strict=True)):
        for at, (template, values) in enumerate(zip(log.series, log.numbers, strict=True)):
            phase = log.phases[at]
            buckets.append(template_buckets(template))
            numbers.append(summary(roles[at], values))
            known.append((PHASES.index(phase) if phase else -1, 1 / len(log.series) ** 0.5, place))
    return _rows(buckets, np.array(numbers), known, [True] * len(known))


def _rows(buckets: list[list[int]], numbers: Floats, known: list[tuple[int, float, int]], sure: list[bool]) -> Rows:
    classes = np.array([one for one, _, _ in known])
    weights = np.array([weight for _, weight, _ in known])
    return Rows(
        buckets, numbers, classes, weights, np.array(sure) & (classes >= 0), np.array([place for _, _, place in known])
    )


def matrix(buckets: Sequence[Sequence[int]], width: int) -> csr_matrix:
    """Return the vectors of texts, each of length TEXT_LENGTH."""
    counts = np.array([len(each) for each in buckets])
    values = np.repeat(TEXT_LENGTH / np.sqrt(np.maximum(counts, 1)), counts)
    places = np.fromiter((place for each in buckets for place in each), np.int64)
    return csr_matrix((values, places, np.concatenate([[0], np.cumsum(counts)])), (len(buckets), width))


def fit(rows: Rows, width: int, classes: int) -> Softmax:
    """Return a regression fitted on the rows whose class is known."""
    rows = rows.of(rows.classes >= 0)
    edges = np.quantile(rows.numbers, np.linspace(0.2, 0.8, EDGES), axis=0).T
    seen = hstack([matrix(rows.buckets, width), csr_matrix(binned(rows.numbers, edges))]).tocsr()
    model = LogisticRegression(C=STRENGTH, max_iter=ITERATIONS, tol=1e-3)
    model.fit(seen, rows.classes, sample_weight=rows.weights * len(rows.weights) / rows.weights.sum())
    weights = np.zeros((seen.shape[1], classes))
    bias = np.full(classes, -20.0)
    weights[:, model.classes_], bias[model.classes_] = model.coef_.T, model.intercept_
    return Softmax(weights[:width], weights[width:], bias, edges)


def calibrate(probabilities: Floats, classes: NDArray[np.int64]) -> float:
    """Return the temperature at which probabilities of rows that the model has not seen are likeliest (Guo et al., 2017)."""

    def surprise(temperature: float) -> float:
        return -float(np.log(tempered(probabilities, temperature)[np.arange(len(classes)), classes]).mean())

    return float(min(np.linspace(0.5, 4.0, 71), key=surprise))


def tempered(probabilities: Floats, temperature: float) -> Floats:
    """Return probabilities as a model of that temperature tells them."""
    raised = np.maximum(probabilities, 1e-12) ** (1 / temperature)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def fitted(logs: Sequence[LabelledLog]) -> LinearProposer:
    """Return a proposer fitted on `logs`, not calibrated."""
    of_columns = fit(columns_of(logs), 2 * BUCKETS, len(ROLES))
    proposed = [roles_of(of_columns, log) for log in logs]
    return LinearProposer(of_columns, fit(templates_of(logs, proposed), BUCKETS, len(PHASES)))


def roles_of(model: Softmax, log: LabelledLog) -> list[Floats]:
    """Return the probabilities of the roles of each template's columns."""
    return [
        model.probabilities([column_buckets(template, column) for column in template.columns], values)
        for template, values in zip(log.series, log.numbers, strict=True)
    ]


def left_out(logs: Sequence[LabelledLog], fold: int) -> LinearProposer:
    """Return a proposer that has seen no framework of `fold`."""
    return fitted([log for log in logs if fold_of(log.group) != fold])


def write_left_out(paths: Sequence[Path]) -> None:
    """Write a proposer for each fold, in the order of `paths`, that has seen none of its frameworks; as many as `FOLDS`."""
    logs = [*corpus(), *generated(SEEDS)]
    for fold, path in enumerate(paths):
        with path.open("wb") as file:
            left_out(logs, fold).save(file)


@dataclass(frozen=True, slots=True)
class Judged:
    """What was proposed of columns and templates that the model had not seen: probabilities, classes that are true."""

    roles: Floats
    role: NDArray[np.int64]
    phases: Floats
    phase: NDArray[np.int64]


def judge(model: LinearProposer, logs: Sequence[LabelledLog]) -> Judged:
    """Return what `model` proposes of `logs`, where the truth is sure."""
    rows = columns_of(logs)
    found = [model.probabilities(log.series) for log in logs]
    roles = np.concatenate([part for parts, _ in found for part in parts])
    phases = np.concatenate([told for _, told in found])
    phase = np.array([PHASES.index(each) if each else -1 for log in logs for each in log.phases])
    return Judged(roles[rows.sure], rows.classes[rows.sure], phases[phase >= 0], phase[phase >= 0])


def table(name: str, judged: Judged) -> str:
    """Return a row: how often the likeliest role and phase are the true ones."""
    role, phase = judged.roles.argmax(axis=1), judged.phases.argmax(axis=1)
    return (
        f"| {name} | {len(role)} | {(role == judged.role).mean():.3f} | {f1_score(judged.role, role, average='macro'):.3f} "
        f"| {len(phase)} | {(phase == judged.phase).mean():.3f} | {f1_score(judged.phase, phase, average='macro'):.3f} |"
    )


def by_role(judged: Judged) -> list[str]:
    """Return a row a role: how many there are, recall, precision, and how often it is among the three likeliest."""
    said, ranked = judged.roles.argmax(axis=1), np.argsort(-judged.roles, axis=1)[:, :3]
    rows = ["", "| role | columns | recall | precision | among the best 3 |", "| --- | --- | --- | --- | --- |"]
    for place, role in enumerate(ROLES):
        of, told = judged.role == place, said == place
        if of.any():
            hits = int((of & told).sum())
            among = (ranked[of] == place).any(axis=1).mean()
            rows.append(
                f"| {role.value} | {of.sum()} | {hits / of.sum():.2f} | {hits / max(1, told.sum()):.2f} | {among:.2f} |"
            )
    return rows


def reliability(judged: Judged) -> list[str]:
    """Return a row a range of probabilities: how many roles were said to be so likely, and how many of these were right."""
    best, right = judged.roles.max(axis=1), judged.roles.argmax(axis=1) == judged.role
    rows = ["", "| said | columns | right |", "| --- | --- | --- |"]
    for low, high in pairwise((0.0, 0.4, 0.6, 0.8, 0.9, 0.97, 1.01)):
        within = (best >= low) & (best < high)
        if within.any():
            rows.append(f"| {low:.2f} to {min(high, 1.0):.2f} | {within.sum()} | {right[within].mean():.2f} |")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.proposer.train", description=__doc__)
    parser.add_argument("--measure-only", action="store_true", help="print the tables, write nothing")
    options = parser.parse_args()
    logs = [*corpus(), *generated(SEEDS)]
    made_up = list(generated(UNSEEN_SEEDS))
    parts = []
    print(f"{len(logs)} logs, {len(NAMES)} numeric features; {FOLDS} models that leave frameworks out", flush=True)
    for fold in range(FOLDS):
        model = left_out(logs, fold)
        parts.append(judge(model, [log for log in logs if fold_of(log.group) == fold]))
        print(
            f"fold {fold + 1} of {FOLDS}: {Counter(log.group for log in logs if fold_of(log.group) == fold).total()} logs",
            flush=True,
        )
    unseen = Judged(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("roles", "role", "phases", "phase"))
    )
    model = fitted(logs)
    model.of_columns.temperature = calibrate(unseen.roles, unseen.role)
    model.of_templates.temperature = calibrate(unseen.phases, unseen.phase)
    print(f"temperatures: roles {model.of_columns.temperature:.2f}, phases {model.of_templates.temperature:.2f}")
    print(
        "| | columns | right role | macro-F1 | templates | right phase | macro-F1 |\n| --- | --- | --- | --- | --- | --- | --- |"
    )
    print(table("frameworks left out", unseen))
    print(table("made-up formats left out", judge(model, made_up)))
    told = replace(unseen, roles=tempered(unseen.roles, model.of_columns.temperature))
    print(*by_role(unseen), *reliability(told), sep="\n")
    if not options.measure_only:
        with (Path(room.__file__).parent / WEIGHTS).open("wb") as file:
            model.save(file)


if __name__ == "__main__":
    main()
