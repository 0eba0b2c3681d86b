"""Jobs as vectors: of the metadata record where it is known, else of the command line (SchedMate §3.1).

Words are hashed with signs into a vector of fixed length (Weinberger et al., Feature Hashing, 2009). So no vocabulary is kept, no model is
loaded, and the vector follows from the text alone. A sentence embedder may take the place of the words of records. Vectors of records and
of command lines are never compared with each other.
"""

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from math import isfinite, log1p, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from schedmate_records import Workload

from .command_line import fingerprint
from .job import SubmittedJob

DIMENSIONS = 256
"""Length of a vector. Longer ones have fewer words at the same place, and take more memory and time in each search."""
_MODEL = 2.0
"""Weight of a model's name, relative to 1, the weight of task, data and unit: higher values find jobs of the same model first."""
_NUMBER = 0.1
"""Weight of a number, relative to the same 1. It only orders similar jobs by length or size."""
_WORDS = 300
"""Words of a command line and its directory that count. A limit against very long command lines."""
_LONGEST = 300
"""Characters of each text of a record that count. A limit against very long texts."""
_PARTS = re.compile(r"[A-Za-z]+|\d+")

_NUMBER_BESIDE_MODEL = 0.04
"""Weight of numbers relative to a model's vector, as `_NUMBER` is relative to words. It changes a cosine by at most 0.006."""
_TEXTS = 65_536
"""Texts whose vectors are kept; records repeat."""

Vector = NDArray[np.float32]
Embed = Callable[[SubmittedJob], Vector | None]
"""Gives the unit vector of a job; None where too little is known of it."""


def embed_command(job: SubmittedJob) -> Vector:
    """Return the unit vector of a command line and its directory, shape (256,); zeros where nothing is known of them.

    Words and pairs of words are weighted by the logarithm of their frequency.
    """
    words = _PARTS.findall(f"{fingerprint(job.command)} {' '.join(job.directory.split('/')[-2:])}".lower())[:_WORDS]
    counted = Counter([*words, *(f"{one} {other}" for one, other in pairwise(words))])
    return _hashed((word, log1p(count)) for word, count in counted.items())


def embed_workload(workload: Workload) -> Vector:
    """Return the unit vector of a metadata record, shape (256,); zeros where it lacks the model, or both task and data."""
    if not _says_enough(workload):
        return np.zeros(DIMENSIONS, np.float32)
    return _hashed([*_words(workload), *_numbers(workload, _NUMBER)])


def command_vector(job: SubmittedJob) -> Vector | None:
    """Return the vector of `embed_command`; None where it is of zeros."""
    return _or_none(embed_command(job))


def record_vector(job: SubmittedJob) -> Vector | None:
    """Return the vector of a job's metadata record; None if there is none, or if it has too few fields."""
    return _or_none(embed_workload(job.workload)) if job.workload else None


def by_model(embed: Callable[[Sequence[str]], Vector]) -> Embed:
    """Return what embeds metadata records with a sentence embedder, which gives unit vectors, shape (len(texts), d).

    The text names model, task and training data. Numbers mean little in a sentence. They are hashed separately and order similar jobs.
    """

    @lru_cache(_TEXTS)
    def of_text(text: str) -> Vector:
        vector: Vector = embed([text])[0]
        return vector

    def of_record(job: SubmittedJob) -> Vector | None:
        if job.workload is None or not _says_enough(job.workload):
            return None
        numbers = _sums(_numbers(job.workload, _NUMBER_BESIDE_MODEL))
        return _unit(np.concatenate([of_text(_text(job.workload)), numbers]))

    return of_record


def _says_enough(workload: Workload) -> bool:
    return bool(workload.model_name and (workload.task_type or workload.dataset_train))


def _text(workload: Workload) -> str:
    named = (("model", workload.model_name), ("task", workload.task_type), ("data", workload.dataset_train))
    return ", ".join(f"{name} {text[:_LONGEST]}" for name, text in named if text)


def _words(workload: Workload) -> Iterator[tuple[str, float]]:
    """Yield the words of a record, and what each weighs. Those of one field share its weight."""
    texts = (
        (workload.model_name, _MODEL),
        (workload.task_type, 1.0),
        (workload.dataset_train, 1.0),
        (workload.iter_type, 1.0),
    )
    for place, (text, weight) in enumerate(texts):
        words = _PARTS.findall((text or "")[:_LONGEST].lower())
        for word in words:
            yield f"{place} {word}", weight / sqrt(len(words))


def _numbers(workload: Workload, weight: float) -> Iterator[tuple[str, float]]:
    """Yield the magnitudes of a record's numbers."""
    for name in ("iters", "batch_size", "lr", "gpus"):
        number = getattr(workload, name)
        if number and number > 0 and isfinite(number):
            yield f"{name} {round(log2(number))}", weight


def _hashed(weighted: Iterable[tuple[str, float]]) -> Vector:
    return _unit(_sums(weighted))


def _sums(weighted: Iterable[tuple[str, float]]) -> Vector:
    vector = np.zeros(DIMENSIONS, np.float32)
    for word, weight in weighted:
        digest = zlib.crc32(word.encode())
        vector[digest % DIMENSIONS] += weight * (1 if digest & 0x8000_0000 else -1)
    return vector


def _unit(vector: Vector) -> Vector:
    norm = float(np.linalg.norm(vector))
    return vector / norm if norm else vector


def _or_none(vector: Vector) -> Vector | None:
    return vector if vector.any() else None
