"""A sentence embedder on ONNX Runtime: light, on CPU (MiniLM and its kin)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .embedder import unit

BATCH = 1
"""Texts at a time. One: padding all to the longest costs more than it saves, and with int8 weights changes the vectors, which would
then depend on what else was asked."""

LONGEST = 128
"""Tokens of a text that are looked at."""


class OnnxEmbedder:
    """Embeds texts with the model in `directory`, by the mean of the token vectors.

    Args:
        directory: Holds an `.onnx` file (the only one, or `model.onnx`) and `tokenizer.json`; either may lie deeper.
        batch: Texts at a time.
        threads: Threads of ONNX Runtime.

    Raises:
        ModuleNotFoundError: `onnxruntime` or `tokenizers` is missing; the message names the command that installs them.
        FileNotFoundError: `directory` lacks a file.
    """

    def __init__(self, directory: Path, batch: int = BATCH, threads: int = 1) -> None:
        try:
            import onnxruntime  # noqa: PLC0415  # optional
            import tokenizers  # noqa: PLC0415  # optional
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"the ONNX embedder needs {error.name}: run `pip install '.[minilm]'` in the checkout"
            ) from error
        model = _only(directory, "*.onnx", "model.onnx")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._inputs = {given.name for given in self._session.get_inputs()}
        self._tokenizer = tokenizers.Tokenizer.from_file(str(_only(directory, "tokenizer.json", "tokenizer.json")))
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.enable_padding()
        self._batch = batch
        self.name = model.stem

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of `texts`, shape (len(texts), d), each of unit length."""
        parts = [self._embed(texts[start : start + self._batch]) for start in range(0, len(texts), self._batch)]
        return np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        encoded = self._tokenizer.encode_batch(list(texts))
        mask = np.array([one.attention_mask for one in encoded], np.int64)
        given = {
            "input_ids": np.array([one.ids for one in encoded], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([one.type_ids for one in encoded], np.int64),
        }
        answer = self._session.run(None, {name: array for name, array in given.items() if name in self._inputs})[0]
        vectors = np.asarray(answer, np.float32)
        if vectors.ndim == 3:  # one vector a token
            weight = mask[..., None].astype(np.float32)
            vectors = (vectors * weight).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-9)
        return unit(vectors)


def _only(directory: Path, pattern: str, preferred: str) -> Path:
    found = sorted(directory.rglob(pattern))
    if not found:
        raise FileNotFoundError(
            f"expected {pattern} under {directory}, found none: name a directory with a model and its tokenizer"
        )
    return next((path for path in found if path.name == preferred), found[0])


def open_embedder(model: str, _url: str = "") -> OnnxEmbedder:
    """Return the embedder of a directory with a model; the entry point `onnx`."""
    return OnnxEmbedder(Path(model))
