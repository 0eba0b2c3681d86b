"""Features of columns: bounded for any numbers and any text."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from processors.read.proposer.features import BUCKETS, NAMES, column_buckets, numeric, template_buckets
from tests.processors.read.whole_logs import read_series

NUMBERS = st.one_of(
    st.integers(-(10**18), 10**18).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["nan", "inf", "0", "1e308", "00:12", "1:02:03", "12,345", "3.2k"]),
)


def feature(lines: list[str], name: str) -> list[float]:
    [template] = list(read_series((line, 10.0 * place) for place, line in enumerate(lines)))
    return numeric([template])[0][:, NAMES.index(name)].tolist()


@given(st.lists(st.lists(NUMBERS, min_size=1, max_size=6), min_size=1, max_size=12), st.text(max_size=20))
@settings(max_examples=25, deadline=None)
def test_features_are_finite_and_bounded(rows: list[list[str]], text: str) -> None:
    series = list(read_series((f"{text} x=" + " y=".join(row), float(place)) for place, row in enumerate(rows)))
    for template, found in zip(series, numeric(series), strict=True):
        assert found.shape == (len(template.columns), len(NAMES))
        assert np.isfinite(found).all()
        assert (np.abs(found) <= 3).all()
        assert all(0 <= place < BUCKETS for place in template_buckets(template))
        for column in template.columns:
            assert all(0 <= place < 2 * BUCKETS for place in column_buckets(template, column))


def test_a_counter_is_bounded_by_its_end() -> None:
    assert feature([f"at {step}/90 x" for step in range(1, 9)], "bounded_by_next") == [1.0, 0.0]
    assert feature([f"at {step}/90 x" for step in range(1, 9)], "of_last") == [0.0, 1.0]


def test_what_counts_seconds_follows_the_clock() -> None:
    lines = [f"t {10 * place} left {900 - 10 * place} n {3 * place}" for place in range(9)]
    assert feature(lines, "counts_time") == [1.0, 0.0, 0.0]
    assert feature(lines, "counts_down") == [0.0, 1.0, 0.0]


def test_samples_are_a_multiple_of_steps() -> None:
    lines = [f"i {step} seen {64 * step} l {1 / step:.5f}" for step in range(1, 9)]
    assert feature(lines, "divides") == [1.0, 0.0, 0.0]
    assert feature(lines, "multiple") == [0.0, 1.0, 0.0]


def test_perplexity_tells_which_number_is_the_loss() -> None:
    losses = [3.2, 3.0, 2.9, 2.85, 2.7]
    lines = [f"a {loss:.4f} b {np.exp(loss):.4f}" for loss in losses]
    assert feature(lines, "logarithm_of") == [1.0, 0.0]
