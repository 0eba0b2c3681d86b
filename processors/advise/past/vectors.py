"""Jobs as vectors, and the exact search among them.

A job's words and pairs of words are hashed with signs into a vector of fixed length (Weinberger et al., Feature Hashing, 2009), weighted by
the logarithm of how often each stands there. So no vocabulary is kept, no model is loaded, and the vector follows from the text alone.
"""

import re
import zlib
from collections import Counter
from itertools import pairwise
from math import log1p

import numpy as np
from numpy.typing import NDArray

from .command_line import fingerprint
from .job import SubmittedJob

DIMENSIONS = 256
MOST = 100_000
"""Jobs that are searched; beyond it the oldest makes room."""
_WORDS = 300
_PARTS = re.compile(r"[A-Za-z]+|\d+")

Vector = NDArray[np.float32]


def embed(job: SubmittedJob) -> Vector:
    """Return the unit vector of a job, shape (256,); zeros where nothing is known of it."""
    words = _PARTS.findall(f"{fingerprint(job.command)} {' '.join(job.directory.split('/')[-2:])}".lower())[:_WORDS]
    vector = np.zeros(DIMENSIONS, np.float32)
    for word, count in Counter([*words, *(f"{one} {other}" for one, other in pairwise(words))]).items():
        digest = zlib.crc32(word.encode())
        vector[digest % DIMENSIONS] += log1p(count) * (1 if digest & 0x8000_0000 else -1)
    norm = float(np.linalg.norm(vector))
    return vector / norm if norm else vector


class VectorIndex:
    """The newest vectors, in the order in which they came.

    Args:
        most: Vectors kept.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._added = 0
        self._rows = np.zeros((min(1024, most), DIMENSIONS), np.float32)

    def add(self, vector: Vector) -> int:
        """Take in a vector and return its place; the vector that was there `most` before is forgotten."""
        place = self._added % self._most
        if place >= len(self._rows):
            more = np.zeros((min(2 * len(self._rows), self._most), DIMENSIONS), np.float32)
            more[: len(self._rows)] = self._rows
            self._rows = more
        self._rows[place] = vector
        self._added += 1
        return place

    def nearest(self, vector: Vector, count: int, threshold: float) -> list[tuple[int, float]]:
        """Return the places and cosines of the `count` nearest vectors, at least `threshold` near; the newest of equals first."""
        held = min(self._added, self._most)
        cosines = self._rows[:held] @ vector
        places = np.flatnonzero(cosines >= threshold)
        newest = (places - self._added) % self._most
        order = np.lexsort((-newest, -cosines[places].round(6)))[:count]
        return [(int(places[each]), min(float(cosines[places[each]]), 1.0)) for each in order]
