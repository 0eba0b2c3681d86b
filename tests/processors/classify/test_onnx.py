"""The light embedder, with the real model that a package carries."""

from pathlib import Path

import numpy as np
import pytest

from processors.classify.embedded import EmbeddedModel, shipped
from processors.classify.linear import LETTERS, LinearModel
from processors.classify.onnx import OnnxEmbedder


@pytest.fixture(scope="module")
def embedder(minilm_directory: Path) -> OnnxEmbedder:
    return OnnxEmbedder(minilm_directory)


def test_vectors_have_unit_length_and_do_not_depend_on_their_neighbours(
    minilm_directory: Path, embedder: OnnxEmbedder
) -> None:
    texts = [f"line {i} " + "word " * (i % 5) for i in range(11)]
    vectors = embedder.embed(texts)
    assert vectors.shape == (11, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert (embedder.embed(texts[3:5]) == vectors[3:5]).all()
    padded = OnnxEmbedder(minilm_directory, batch=4).embed(texts)
    assert (vectors * padded).sum(axis=1).min() > 0.97  # int8 activations differ a little with the padding


def test_likeness_follows_meaning(embedder: OnnxEmbedder) -> None:
    text, near, far = embedder.embed(
        ["the disk is full", "no space left on the drive", "the weather is nice in spring"]
    )
    assert text @ near > text @ far + 0.2


def test_nothing_gives_nothing(embedder: OnnxEmbedder) -> None:
    assert len(embedder.embed([])) == 0


def test_a_directory_without_a_model_is_refused(embedder: OnnxEmbedder, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"expected \*\.onnx under"):
        OnnxEmbedder(tmp_path)


def test_vectors_join_the_grams_behind_the_signatures(embedder: OnnxEmbedder) -> None:
    known = [each for each in shipped() if each.asked][::10]
    model = EmbeddedModel(embedder, LinearModel.load(), known)
    likely = model.probabilities([each.template for each in known])
    right = [LETTERS[row.argmax()] == each.letter for row, each in zip(likely, known, strict=True)]
    assert sum(right) > 0.85 * len(known)
