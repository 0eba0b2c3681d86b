import numpy as np
import pytest

from benchmarks.forecast.network import attend


def test_equal_attributes_share_the_attention() -> None:
    one = np.eye(2)
    tokens = np.array([[[1.0, 0.0], [1.0, 0.0]]])
    vector, weights = attend(tokens, one, one, 2 * one)
    assert weights.tolist() == [[[0.5, 0.5], [0.5, 0.5]]]
    assert vector.tolist() == [[2.0, 0.0]]


def test_attention_by_hand() -> None:
    # Tokens 2 and 0 with d = 1: logits [[4, 0], [0, 0]], so weights [[1 / (1 + e^-4), ...], [1/2, 1/2]].
    one = np.array([[1.0]])
    vector, weights = attend(np.array([[[2.0], [0.0]]]), one, one, one)
    near = 1 / (1 + np.exp(-4))
    assert weights[0] == pytest.approx(np.array([[near, 1 - near], [0.5, 0.5]]))
    assert vector[0, 0] == pytest.approx((2 * near + 1) / 2)
