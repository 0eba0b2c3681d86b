"""Jobs as vectors: of the metadata record where it is known, else of the command line (SchedMate §3.1).

Words are hashed with signs into a vector of fixed length (Weinberger et al., Feature Hashing, 2009). So no vocabulary is kept, no model is
loaded, and the vector follows from the text alone. Vectors of records and of command lines are never compared with each other.
"""

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import isfinite, log1p, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from records import Workload

from .command_line import fingerprint
from .job import SubmittedJob

DIMENSIONS = 256
_MODEL = 2.0
_NUMBER = 0.1
"""Weights beside the 1 of task, data and unit. A number's only orders the jobs alike: what is as long or as large is nearer."""
_WORDS = 300
_LONGEST = 300
_PARTS = re.compile(r"[A-Za-z]+|\d+")

Vector = NDArray[np.float32]


def embed_command(job: SubmittedJob) -> Vector:
    """Return the unit vector of a command line and its directory, shape (256,); zeros where nothing is known of them.

    Words and pairs of words count by the logarithm of how often each stands there.
    """
    words = _PARTS.findall(f"{fingerprint(job.command)} {' '.join(job.directory.split('/')[-2:])}".lower())[:_WORDS]
    counted = Counter([*words, *(f"{one} {other}" for one, other in pairwise(words))])
    return _hashed((word, log1p(count)) for word, count in counted.items())


def embed_workload(workload: Workload) -> Vector:
    """Return the unit vector of a metadata record, shape (256,); zeros where it lacks the model, or both task and data."""
    if not workload.model_name or not (workload.task_type or workload.dataset_train):
        return np.zeros(DIMENSIONS, np.float32)
    return _hashed(_features(workload))


def _features(workload: Workload) -> Iterator[tuple[str, float]]:
    """Yield what a record says, and what each weighs. The words of one field share its weight."""
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
    for name in ("iters", "batch_size", "lr", "gpus"):
        number = getattr(workload, name)
        if number and number > 0 and isfinite(number):
            yield f"{name} {round(log2(number))}", _NUMBER


def _hashed(weighted: Iterable[tuple[str, float]]) -> Vector:
    vector = np.zeros(DIMENSIONS, np.float32)
    for word, weight in weighted:
        digest = zlib.crc32(word.encode())
        vector[digest % DIMENSIONS] += weight * (1 if digest & 0x8000_0000 else -1)
    norm = float(np.linalg.norm(vector))
    return vector / norm if norm else vector
