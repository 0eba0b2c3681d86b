"""Models that have not seen the frameworks that they score: trained without them, and kept until what they are made of changes.

A framework of the corpus is in one of `FOLDS` groups, by a hash of its name. For each group the product's models are trained once more on
everything but its frameworks. Blind frameworks are in none: the models that ship have not seen them.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from zlib import crc32

import numpy as np

from processors.classify.linear import LinearModel
from processors.job import JobProcessor
from processors.read.proposer.linear import LinearProposer
from schedmate.assembly import job_processor
from schedmate.settings.settings import Settings

from .plan import BLIND, PROJECT, Framework

FOLDS, COLUMN_FOLDS = 4, 3
KEPT = PROJECT / ".cache" / "left_out"
SOURCES = ("benchmarks/classifier", "benchmarks/corpus", "processors/classify", "processors/grammar")
"""What the models of lines are made of; when a file of it changes they are trained again."""
COLUMN_SOURCES = (
    "benchmarks/proposer",
    "benchmarks/formats",
    "benchmarks/corpus/logs",
    "processors/read/proposer/features.py",
)
"""What those of columns are made of."""


def fold_of(name: str, folds: int = FOLDS) -> int:
    """Return which group a framework of the corpus is in."""
    return crc32(name.encode()) % folds


class LeftOutProcessors:
    """Processors for each framework of the corpus, whose models have not seen it.

    Args:
        say: Told what is being trained.
        shipped: Take the models that ship instead, which have seen all but the blind frameworks.
    """

    def __init__(self, say: Callable[[str], None], *, shipped: bool = False) -> None:
        self._say, self._shipped = say, shipped
        self._made: dict[tuple[int, int], JobProcessor] = {}

    def of(self, framework: Framework) -> JobProcessor:
        """Return the processors that may score `framework`."""
        known = self._shipped or framework.split == BLIND
        folds = (-1, -1) if known else (fold_of(framework.name), fold_of(framework.name, COLUMN_FOLDS))
        if folds not in self._made:
            linear = None if known else lines_models(self._say)[folds[0]]
            proposer = None if known else column_models(self._say)[folds[1]]
            self._made[folds] = job_processor(Settings().processors, linear, proposer)
        return self._made[folds]


def lines_models(say: Callable[[str], None]) -> list[LinearModel]:
    """Return the line classifier's models, one for each group, which it has not seen. `say` is told where they have to be trained."""
    folder = KEPT / digest()
    kept = [folder / f"lines_{fold}.npz" for fold in range(FOLDS)]
    if not all(path.exists() for path in kept):
        # Imported here: scikit-learn is needed where something is trained, and nowhere else.
        from benchmarks.classifier.data import COMPOSED, examples  # noqa: PLC0415
        from benchmarks.classifier.train import ALWAYS, write_left_out  # noqa: PLC0415

        say(f"training {FOLDS} line classifiers, each without some frameworks: a minute or two, once")
        folder.mkdir(parents=True, exist_ok=True)
        known = examples()
        folds = np.array([ALWAYS if each.source == COMPOSED else fold_of(each.group) for each in known])
        partial = [path.with_suffix(".partial.npz") for path in kept]
        write_left_out(partial, known, folds)
        for written, path in zip(partial, kept, strict=True):
            written.rename(path)
    return [_loaded(path) for path in kept]


def column_models(say: Callable[[str], None]) -> list[LinearProposer]:
    """Return the proposers of columns' roles, one for each of `COLUMN_FOLDS` groups, which it has not seen."""
    folder = KEPT / digest(COLUMN_SOURCES)
    kept = [folder / f"columns_{fold}.npz" for fold in range(COLUMN_FOLDS)]
    if not all(path.exists() for path in kept):
        from benchmarks.proposer.train import write_left_out as write_proposers  # noqa: PLC0415  # as above

        say(f"training {COLUMN_FOLDS} proposers of columns, each without some frameworks: some minutes, once")
        folder.mkdir(parents=True, exist_ok=True)
        partial = [path.with_suffix(".partial.npz") for path in kept]
        write_proposers(partial)
        for written, path in zip(partial, kept, strict=True):
            written.rename(path)
    found = []
    for path in kept:
        with path.open("rb") as file:
            found.append(LinearProposer.load(file))
    return found


def _loaded(path: Path) -> LinearModel:
    with path.open("rb") as file:
        return LinearModel.load(file)


def digest(sources: Sequence[str] = SOURCES) -> str:
    """Return a checksum of all that models are made of."""
    found = sha256()
    for folder in sources:
        below = PROJECT / folder
        for path in [below] if below.is_file() else sorted(below.rglob("*")):
            if path.is_file() and path.suffix not in (".pyc", ".md"):
                found.update(f"{path.relative_to(PROJECT)}\0".encode())
                found.update(path.read_bytes())
    return found.hexdigest()[:16]
