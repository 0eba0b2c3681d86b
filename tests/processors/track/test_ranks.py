"""Step times over ranks."""

import pytest

from processors.track.ranks import over_ranks


def test_the_slowest_rank_is_named() -> None:
    found = over_ranks({0: 0.5, 1: 0.52, 2: 0.9, 3: 0.51})
    assert found is not None
    assert (found.slowest, found.ranks) == (2, 4)
    assert found.step_time_s == pytest.approx(0.515)
    assert found.spread == pytest.approx(0.4 / 0.515)
    assert found.lag == pytest.approx(0.9 / 0.515)


def test_one_rank_has_no_spread() -> None:
    assert over_ranks({0: 0.5, 1: 0.0}) is None
