"""The exact search among the vectors of past jobs."""

import numpy as np

from .embedding import DIMENSIONS, Vector

MOST = 100_000
"""Jobs that are searched; beyond it the oldest makes room."""
_HEAD = 64
"""Numbers of each vector that the bound multiplies: a quarter of 256. More make the bound tighter, and each search slower."""
_ROUNDING = 1e-4
"""Tolerance for the rounding errors of 32-bit products: no vector at the threshold is lost to them."""
_MANY = 16
"""Above one vector in this many, multiplying all vectors is faster than collecting those that pass the bound."""


class VectorIndex:
    """The newest unit vectors, in the order in which they came.

    The search is exact and reads a quarter of the memory: the product of the first `_HEAD` numbers and the lengths of the rest bound the
    cosine from above (Cauchy-Schwarz), and only vectors whose bound reaches the threshold are multiplied in full.

    Args:
        most: Vectors kept.
        dimensions: Numbers of a vector.
    """

    def __init__(self, most: int = MOST, dimensions: int = DIMENSIONS) -> None:
        self._most = most
        self._added = 0
        self._rows = np.zeros((min(1024, most), dimensions), np.float32)
        self._heads = np.zeros((len(self._rows), _HEAD), np.float32)
        self._tails = np.zeros(len(self._rows), np.float32)

    def add(self, vector: Vector) -> int:
        """Take in a vector and return its place; the vector that was there `most` before is forgotten."""
        place = self._added % self._most
        if place >= len(self._rows):
            size = min(2 * len(self._rows), self._most)
            self._rows, self._heads, self._tails = (
                _grown(each, size) for each in (self._rows, self._heads, self._tails)
            )
        self._rows[place], self._heads[place] = vector, vector[:_HEAD]
        self._tails[place] = np.linalg.norm(vector[_HEAD:])
        self._added += 1
        return place

    def nearest(self, vector: Vector, count: int, threshold: float) -> list[tuple[int, float]]:
        """Return the places and cosines of the `count` nearest vectors, at least `threshold` near; the newest of equals first."""
        held = min(self._added, self._most)
        bound = self._heads[:held] @ vector[:_HEAD] + self._tails[:held] * np.linalg.norm(vector[_HEAD:])
        places = np.flatnonzero(bound >= threshold - _ROUNDING)
        many = len(places) > held // _MANY  # to gather so many rows takes longer than to multiply all
        cosines = (self._rows[:held] @ vector)[places] if many else self._rows[places] @ vector
        near = cosines >= threshold
        if near.sum() > count:  # only the nearest, and what is as near as the last of them, need be sorted
            near &= cosines >= np.partition(cosines[near], -count)[-count] - _ROUNDING
        places, cosines = places[near], cosines[near]
        newest = (places - self._added) % self._most
        order = np.lexsort((-newest, -cosines.round(6)))[:count]
        return [(int(places[each]), min(float(cosines[each]), 1.0)) for each in order]


def _grown(array: Vector, size: int) -> Vector:
    more = np.zeros((size, *array.shape[1:]), np.float32)
    more[: len(array)] = array
    return more
