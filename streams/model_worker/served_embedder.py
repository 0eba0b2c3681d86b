"""A sentence embedder that a server holds (`/v1/embeddings` of vLLM and its kin): for workers without a GPU."""

from collections.abc import Sequence

import numpy as np
import structlog
from numpy.typing import NDArray

from processors.classify.embedder import EmbedderAway, unit

from .breaker import CircuitBreaker
from .http_server import HttpModelServer
from .language_model import ModelError

log = structlog.get_logger(__name__)

BATCH = 32
"""Texts of a request: their vectors, of up to 4096 numbers, fit into the largest answer that is read."""
LONGEST = 400
"""Characters of a text that are sent: models take some hundred tokens."""


class ServedEmbedder:
    """Embeds texts with the model of a server. Failures are raised, and the server is not asked for a while after three of them.

    Args:
        breaker: Holds requests back after failures.
        timeout_s: Seconds that a request may take.
    """

    def __init__(self, server: HttpModelServer, breaker: CircuitBreaker | None = None, timeout_s: float = 5.0) -> None:
        self._server, self._breaker, self._timeout_s = server, breaker or CircuitBreaker(), timeout_s
        self._width = 0
        self.name = server.url

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of `texts`, shape (len(texts), d), each of unit length.

        Raises:
            EmbedderAway: The server did not answer, or was not asked because it failed lately.
        """
        parts = [self._embed(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
        return unit(np.concatenate(parts)) if parts else np.zeros((0, self._width), np.float32)

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._breaker.open:
            raise EmbedderAway(f"{self._server.url} failed lately and is not asked for a while")
        self._breaker.begin()
        try:
            vectors = self._server.embeddings([_sendable(text) for text in texts], self._timeout_s)
            if self._width not in (0, vectors.shape[1]):
                raise ModelError(
                    f"{self._server.url}: expected vectors of {self._width}, got {vectors.shape[1]} numbers"
                )
        except ModelError as error:
            if self._breaker.failed():
                log.warning("dependency_unavailable", dependency="embedder", error=str(error))
            raise EmbedderAway(str(error)) from error
        if self._breaker.succeeded():
            log.info("dependency_available", dependency="embedder")
        self._width = vectors.shape[1]
        return vectors


def _sendable(text: str) -> str:
    """Return what is sent of `text`: no half of a character, and never nothing, which servers refuse."""
    return text[:LONGEST].encode("utf-8", "replace").decode() or " "


def open_embedder(model: str, url: str) -> ServedEmbedder:
    """Return the embedder of a model that a server holds; the entry point `http`."""
    return ServedEmbedder(HttpModelServer(url, model))
