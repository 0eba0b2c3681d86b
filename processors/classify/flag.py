"""A sentence embedder on FlagEmbedding (BGE and its kin): for machines with a GPU."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .embedder import unit

DEFAULT_MODEL = "BAAI/bge-m3"
AT_A_TIME = 255
"""Texts in one call: from 256 on the library draws bars of progress into the worker's log."""


class FlagEmbedder:
    """Embeds texts with FlagEmbedding.

    Args:
        model: Name on the model hub, or a directory. One whose name holds `m3` is loaded as BGE-M3 (dense vectors).
        device: `cuda:0`, `cpu`, …; None takes what FlagEmbedding finds, a GPU where there is one.
        pooling: `cls` (the BGE models) or `mean` (MiniLM).

    Raises:
        ModuleNotFoundError: FlagEmbedding is missing; the message says how to get it.
    """

    def __init__(self, model: str = DEFAULT_MODEL, device: str | None = None, pooling: str = "cls") -> None:
        try:
            import FlagEmbedding  # noqa: PLC0415  # optional, and slow to load
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"the FlagEmbedding embedder needs {error.name}: install it with `pip install 'schedmate[gpu]'`"
            ) from error
        half = device != "cpu"
        self.name = model.rstrip("/").rsplit("/", 1)[-1]
        if "m3" in self.name.lower():
            self._model: Any = FlagEmbedding.BGEM3FlagModel(model, use_fp16=half, devices=device)
        else:
            self._model = FlagEmbedding.FlagModel(
                model, use_fp16=half, devices=device, pooling_method=pooling, normalize_embeddings=True
            )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of `texts`, shape (len(texts), d), each of unit length."""
        if not texts:
            return np.zeros((0, 0), np.float32)
        parts = [self._encoded(list(texts[at : at + AT_A_TIME])) for at in range(0, len(texts), AT_A_TIME)]
        return unit(np.concatenate(parts))

    def _encoded(self, texts: list[str]) -> NDArray[np.float32]:
        answer = self._model.encode(texts)
        return np.asarray(answer["dense_vecs"] if isinstance(answer, dict) else answer, np.float32)
