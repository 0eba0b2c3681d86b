import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.spot.manager import inventory, next_safety, spot_quota
from processors.spot.settings import GfsSettings

SETTINGS = GfsSettings(guarantee=0.9, long_wait_s=3600, least_safety=0.25, most_safety=2.0)


def test_inventory_by_hand() -> None:
    # The cluster's demand peaks at 60 in the second of two hours; of 100 GPUs 40 are left.
    assert inventory(100, np.array([40.0, 60.0])) == 40
    assert inventory(50, np.array([40.0, 60.0])) == 0


@given(st.floats(0, 1e5), st.lists(st.floats(0, 1e5), min_size=1, max_size=8))
def test_inventory_is_within_the_cluster(capacity: float, total: list[float]) -> None:
    assert 0 <= inventory(capacity, np.array(total)) <= capacity


def test_quota_by_hand() -> None:
    assert spot_quota(30, 0.5, idle=100, spot_gpus=20) == 15
    assert spot_quota(300, 0.5, idle=100, spot_gpus=20) == 120


@pytest.mark.parametrize(
    ("eviction_rate", "wait_s", "expected"),
    [
        (0.2, 0, 0.5),  # twice what is tolerated: 0.1 / 0.2
        (0.14, 0, 1.0),  # not above 1.5 x 0.1
        (0.02, 3601, 1.3),  # 1.5 - 0.02 / 0.1
        (0.02, 3600, 1.0),  # nobody waits for long
        (0.05, 9999, 1.0),  # not below 0.5 x 0.1
        (0.0, 9999, 1.5),
        (1.0, 0, 0.25),  # 0.1 / 1, bounded
    ],
)
def test_safety_by_hand(eviction_rate: float, wait_s: float, expected: float) -> None:
    assert next_safety(1.0, eviction_rate, wait_s, SETTINGS) == pytest.approx(expected)


@given(st.floats(0.25, 2), st.lists(st.tuples(st.floats(0, 5), st.floats(0, 1e6)), max_size=20))
def test_safety_keeps_its_bounds(safety: float, seen: list[tuple[float, float]]) -> None:
    for rate, wait in seen:
        safety = next_safety(safety, rate, wait, SETTINGS)
        assert 0.25 <= safety <= 2


@pytest.mark.parametrize("wrong", [{"guarantee": 1.0}, {"guaranteed_h": 0}, {"least_safety": 1.5}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="expected"):
        GfsSettings(**wrong)  # type: ignore[arg-type]
