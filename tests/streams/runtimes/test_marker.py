"""What a worker is told of those before it."""

from streams.runtimes.marker import STARTS, SUSPECTS, Marker

ENDS = {"job-logs": 100_000}


def begin(marker: Marker, committed: int) -> dict[str, int]:
    return marker.begin({"job-logs": committed}, ENDS, ("job-logs",))


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
