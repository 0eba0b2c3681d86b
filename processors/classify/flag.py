"""A sentence embedder on FlagEmbedding (BGE and its kin): for machines with a GPU."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .embedder import unit

DEFAULT_MODEL = "BAAI/bge-m3"


class FlagEmbedder:
    """Embeds texts with FlagEmbedding.

    Args:
        model: Name on the model hub, or a directory. One whose name holds `m3` is loaded as BGE-M3 (dense vectors).
        device: `cuda:0`, `cpu`, …; None takes what FlagEmbedding finds, a GPU where there is one.
        pooling: `cls` (the BGE models) or `mean` (MiniLM).

    Raises:
        ModuleNotFoundError: FlagEmbedding is missing; the message names the command that installs it.
    """

    def __init__(self, model: str = DEFAULT_MODEL, device: str | None = None, pooling: str = "cls") -> None:
        # The library draws a bar of progress for each call with many texts, into a worker's log. This is the delay before one shows.
        os.environ.setdefault("TQDM_DELAY", "3600")
        try:
            import FlagEmbedding  # noqa: PLC0415  # optional, and slow to load
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"the FlagEmbedding embedder needs {error.name}: run `pip install '.[gpu]'` in the checkout"
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
        answer = self._model.encode(list(texts))
        return unit(np.asarray(answer["dense_vecs"] if isinstance(answer, dict) else answer, np.float32))


def open_embedder(model: str, _url: str = "") -> FlagEmbedder:
    """Return the embedder of a model, BGE-m3 where none is named; the entry point `flag`."""
    return FlagEmbedder(model or DEFAULT_MODEL)
