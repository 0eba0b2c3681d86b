from processors.spot.demand_log import LONGEST_GAP_H, DemandLog
from processors.spot.settings import CLUSTER

HOUR = 3600.0


def test_of_each_past_hour_the_most_is_kept() -> None:
    log = DemandLog(24)
    log.observe(0.2 * HOUR, {"a": 4.0})
    log.observe(0.9 * HOUR, {"a": 2.0, "b": 1.0})
    log.observe(1.1 * HOUR, {"b": 3.0})
    log.observe(2.0 * HOUR, {"a": 9.0})
    assert log.past_peaks(2.5 * HOUR) == {"a": [4.0, 0.0], "b": [1.0, 3.0], CLUSTER: [4.0, 3.0]}


def test_the_order_of_observations_does_not_matter() -> None:
    seen = [(hour * HOUR / 2, {"a": float(hour % 5), "b": float(hour % 3)}) for hour in range(30)]
    first, second = DemandLog(8), DemandLog(8)
    for at, demand in seen:
        first.observe(at, demand)
    for at, demand in [*reversed(seen), *seen]:
        second.observe(at, demand)
    assert first.past_peaks(15 * HOUR) == second.past_peaks(15 * HOUR)
    assert {len(each) for each in first.past_peaks(15 * HOUR).values()} == {8}


def test_demand_stands_still_while_nobody_looks_and_not_for_long() -> None:
    log = DemandLog(48)
    log.observe(0.0, {"a": 1.0})
    log.observe((LONGEST_GAP_H + 1) * HOUR, {"a": 5.0})
    assert log.past_peaks((LONGEST_GAP_H + 2) * HOUR)["a"] == [1.0] * (LONGEST_GAP_H + 1) + [5.0]
    late = (2 * LONGEST_GAP_H + 3) * HOUR
    log.observe(late, {"a": 7.0})
    assert log.past_peaks(late + HOUR)["a"] == [7.0]
    assert log.past_peaks(late + 100 * HOUR) == {}
