"""Whether all that stands in a partition is ours."""

from streams.runtimes.sole_writer import SoleWriter

PART = ("job-state", 0)


def test_what_follows_without_a_gap_is_ours() -> None:
    sole = SoleWriter()
    sole.begin(PART, 7)
    sole.acknowledged(PART, 7, 2)
    sole.acknowledged(PART, 9, 1)
    assert sole.wrote_all(PART, 10)
    assert not sole.wrote_all(PART, 11), "another one has written since"
    assert sole.take_gap(PART) is None


def test_a_gap_is_told_once_and_never_forgotten() -> None:
    sole = SoleWriter()
    sole.begin(PART, 7)
    sole.acknowledged(PART, 8, 1)  # somebody else's stands before it
    sole.acknowledged(PART, 9, 1)
    assert not sole.wrote_all(PART, 10)
    assert sole.take_gap(PART) == (7, 8)
    assert sole.take_gap(PART) is None
    assert not sole.wrote_all(PART, 10)
    sole.begin(PART, 10)
    sole.acknowledged(PART, 10, 1)
    assert sole.wrote_all(PART, 11)


def test_gaps_that_nobody_has_asked_for_become_one() -> None:
    sole = SoleWriter()
    sole.begin(PART, 0)
    sole.acknowledged(PART, 2, 1)
    sole.acknowledged(PART, 5, 1)
    assert sole.take_gap(PART) == (0, 5)


def test_nothing_is_ours_before_it_is_followed_or_when_it_is_in_doubt() -> None:
    sole = SoleWriter()
    sole.acknowledged(PART, 0, 1)
    assert not sole.wrote_all(PART, 1)
    assert sole.take_gap(PART) is None
    sole.begin(PART, 3)
    sole.acknowledged(PART, -1, 1)  # the broker knows that it came twice, not where it stands
    assert not sole.wrote_all(PART, 3)
    assert sole.take_gap(PART) == (3, None)
    sole.begin(PART, 3)
    sole.forget(PART)
    sole.acknowledged(PART, 3, 1)
    assert not sole.wrote_all(PART, 4)
