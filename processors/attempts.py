"""Which attempts of a job are followed, where anyone with the job's key can claim any attempt.

A scheduler reports attempts in `job-events`, where users cannot write. Lines, and events of pipes, only claim them.

- The two newest attempts that a scheduler reported are always followed.
- Where a scheduler reported one, claims count from the attempt before the newest reported one to `AHEAD` after it. Each has a state of
  its own, so no claim displaces another attempt.
- Where no scheduler did, the numbers may grow by `AHEAD` at once, and `CLAIMED` attempts are followed. A further one displaces the attempt
  with the fewest records: one that a few forged records claim, not one that runs.
"""

from collections.abc import Iterator, Mapping, MutableMapping

from prometheus_client import Counter

from .state import AttemptState

REPORTED = 2
"""Attempts that a scheduler reported and that are followed: the newest, and the one before, whose last lines may arrive late."""
AHEAD = 8
"""Attempts that may be claimed after the newest known one: a job may fail so often at its start before its scheduler's watcher, or the
first of its lines, is read."""
CLAIMED = 4
"""Attempts that are followed while no scheduler has reported any: the newest two, and two that may be forged."""


class AttemptMetrics:
    """Counts what is passed over because of its attempt."""

    def __init__(self) -> None:
        self.lines = Counter(
            "schedmate_attempts_lines_passed_over",
            "Lines of attempts with a high number that no scheduler reported. They are not processed.",
            registry=None,
        )
        self.events = Counter(
            "schedmate_attempts_events_passed_over",
            "Events of attempts that are not tracked: too old, or with a high number that no scheduler reported.",
            registry=None,
        )


def may_follow(attempts: Mapping[int, AttemptState], number: int, *, reported: bool = False) -> bool:
    """Return whether the attempt `number` is followed, or is to be from now on."""
    if number in attempts:
        return True
    known = _reported(attempts)
    if reported:
        return len(known) < REPORTED or number > known[-REPORTED]
    if known:
        return _may_claim(number, known[-1])
    return not attempts or number <= max(attempts) + AHEAD


def newest_attempt(attempts: Mapping[int, AttemptState]) -> int:
    """Return the newest attempt, of those that a scheduler reported where it reported any; -1 before the first record."""
    return max(_reported(attempts) or attempts, default=-1)


def drop_displaced(attempts: MutableMapping[int, AttemptState], begun: int) -> None:
    """Drop the attempts that are followed no longer, after the attempt `begun` began or was reported."""
    known = _reported(attempts)
    if known:
        for number in list(attempts):
            is_claim = not attempts[number].reported and _may_claim(number, known[-1])
            if number not in known[-REPORTED:] and not is_claim:
                del attempts[number]
    while not known and len(attempts) > CLAIMED:
        # The attempt before may print its last lines only now.
        others = [number for number in attempts if number not in (begun, begun - 1)]
        del attempts[min(others, key=lambda number: (attempts[number].records, -number))]


def superseded(attempts: Mapping[int, AttemptState]) -> Iterator[tuple[int, float]]:
    """Yield each attempt after which another one began, and when that was. A claim ends no attempt that a scheduler reported."""
    for number in sorted(attempts):
        later = (each for each in sorted(attempts) if each > number)
        believed = (each for each in later if attempts[each].reported or not attempts[number].reported)
        if (next_one := next(believed, None)) is not None:
            yield number, attempts[next_one].began


def _may_claim(number: int, newest_reported: int) -> bool:
    return newest_reported - 1 <= number <= newest_reported + AHEAD


def _reported(attempts: Mapping[int, AttemptState]) -> list[int]:
    """Return the attempts that a scheduler reported, in order."""
    return sorted(number for number, attempt in attempts.items() if attempt.reported)
