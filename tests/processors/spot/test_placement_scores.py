import pytest

from processors.spot.cluster import NodeState
from processors.spot.placement import breaker_open, co_location, eviction_awareness, eviction_frequency, packing
from processors.spot.settings import GfsSettings

SETTINGS = GfsSettings(recent_weight=0.8, penalty=3.0)
NODE = NodeState(index=0, gpus=8, idle=2, hp_gpus=5, spot_gpus=1, evictions_1h=2, evictions_24h=12)


def test_scores_by_hand() -> None:
    assert packing(NODE) == 0.75
    assert (co_location(NODE, spot=False), co_location(NODE, spot=True)) == (5 / 8, 1 / 8)
    assert eviction_frequency(NODE, SETTINGS) == pytest.approx(0.8 * 2 + 0.2 * 12 / 24)  # 1.7
    assert eviction_awareness(NODE, SETTINGS, spot=False) == pytest.approx(0.01 * 3**1.7)
    assert eviction_awareness(NODE, SETTINGS, spot=True) == pytest.approx(1 - 0.01 * 3**1.7)


@pytest.mark.parametrize(("evictions", "is_open"), [(0, False), (5, False), (6, True), (100_000, True)])
def test_the_breaker_opens_where_spot_jobs_are_evicted_all_the_time(evictions: int, is_open: bool) -> None:
    # 3 to the power 0.8 x 5 + 0.2 x 5 / 24 is 85; with 6 evictions it is 206, above 100.
    node = NodeState(index=0, idle=8, evictions_1h=evictions, evictions_24h=evictions)
    assert breaker_open(node, SETTINGS) is is_open
    assert 0 <= eviction_awareness(node, SETTINGS, spot=False) <= 1
