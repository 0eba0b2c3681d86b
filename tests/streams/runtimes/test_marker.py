"""What a worker is told of those before it."""

import itertools

from streams.runtimes.marker import STARTS, SUSPECTS, Marker

ENDS = {"job-logs": 100_000}
WORKERS = itertools.count()


def begin(marker: Marker, committed: int, worker: int | None = None) -> dict[str, int]:
    """Take a partition over; another process each time where none is named."""
    return marker.begin({"job-logs": committed}, ENDS, ("job-logs",), next(WORKERS) if worker is None else worker)


def test_workers_in_a_row_make_the_third_careful_and_later_ones_more_so() -> None:
    marker = Marker()
    assert [begin(marker, 7) for _ in range(STARTS - 1)] == [{}] * (STARTS - 1)
    assert begin(marker, 7) == {"job-logs": 7 + SUSPECTS}
    assert begin(marker, 7) == {"job-logs": 7 + 2 * SUSPECTS}
    for _ in range(40):
        last = begin(marker, 7)
    assert last == ENDS, "no more than there was"


def test_one_that_got_further_makes_the_next_careless() -> None:
    marker = Marker()
    for _ in range(STARTS):
        begin(marker, 7)
    assert begin(marker, 8) == {}


def test_workers_that_take_it_from_each_other_are_not_dead() -> None:
    marker = Marker()
    first, second = next(WORKERS), next(WORKERS)
    assert [begin(marker, 7, worker) for worker in [first, second] * 10] == [{}] * 20
    assert begin(marker, 7) == {"job-logs": 7 + SUSPECTS}
