from collections import Counter
from itertools import combinations
from math import comb

import pytest

from processors.interference.spans import confidence


@pytest.mark.parametrize(("early", "late"), [(1, 4), (3, 4), (4, 3), (5, 2)])
def test_it_is_the_share_of_all_orders_that_show_less(early: int, late: int) -> None:
    orders: Counter[int] = Counter()
    measured: dict[int, tuple[list[float], list[float]]] = {}
    for places in combinations(range(early + late), late):
        after = [float(place + 1) for place in places]
        before = [float(place + 1) for place in range(early + late) if place not in places]
        longer = sum(one > other for one in after for other in before)
        orders[longer] += 1
        measured[longer] = before, after
    for longer, (before, after) in measured.items():
        less = sum(count for other, count in orders.items() if other < longer)
        assert confidence(before, after, 1.0) == pytest.approx(less / comb(early + late, late))


def test_only_what_exceeds_the_limit_counts() -> None:
    assert confidence([1.0] * 12, [1.5] * 12, 0.65) == 0
    assert confidence([1.0] * 12, [1.6] * 12, 0.65) > 0.999_999
    assert confidence([], [2.0], 0.65) == 0
