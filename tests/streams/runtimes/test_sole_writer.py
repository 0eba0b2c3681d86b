"""Whether all that stands in a partition is ours."""

from streams.runtimes.sole_writer import SoleWriter

PART = ("job-state", 0)


def test_what_follows_without_a_gap_is_ours() -> None:
    sole = SoleWriter()
    sole.begin(PART)
    sole.acknowledged(PART, 7, 2)
    sole.acknowledged(PART, 9, 1)
    assert sole.wrote_all(PART, 10)
    assert not sole.wrote_all(PART, 11), "another one has written since"


def test_a_gap_is_never_forgotten() -> None:
    sole = SoleWriter()
    sole.begin(PART)
    sole.acknowledged(PART, 7, 1)
    sole.acknowledged(PART, 9, 1)  # somebody else's stands between them
    assert not sole.wrote_all(PART, 10)
    sole.acknowledged(PART, 10, 1)
    assert not sole.wrote_all(PART, 11)


def test_nothing_is_ours_before_it_is_followed_or_when_it_is_in_doubt() -> None:
    sole = SoleWriter()
    sole.acknowledged(PART, 0, 1)
    assert not sole.wrote_all(PART, 1)
    sole.begin(PART)
    assert not sole.wrote_all(PART, 1), "nothing was acknowledged yet"
    sole.acknowledged(PART, -1, 1)  # the broker knows that it came twice, not where it stands
    assert not sole.wrote_all(PART, 0)
    sole.begin(PART)
    sole.acknowledged(PART, 3, 1)
    sole.forget(PART)
    assert not sole.wrote_all(PART, 4)
