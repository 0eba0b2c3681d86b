"""Protocol of an embedder, which turns texts into vectors."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class EmbedderAway(Exception):  # not a fault: what it helps goes on without it
    """The embedder cannot be asked now; the message gives the reason."""


class Embedder(Protocol):
    """A sentence embedding model.

    Attributes:
        name: Of the model, for records and logs.
    """

    name: str

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of `texts`, shape (len(texts), d), each of unit length. Raises `EmbedderAway` where it cannot now."""


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return `vectors`, shape (n, d), with rows of unit length; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
