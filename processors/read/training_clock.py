"""The clock of training alone: seconds since the run began, without evaluation and what else lies between stretches of training."""

import re
from collections import Counter
from collections.abc import Sequence

from .events import Event

_EVALUATION = re.compile(r"(?i)eval|valid|test")
_WHOLE = ("run", "init")
_BESIDE = 0.2
"""Share of stretches of training that an evaluation inside of them leaves at least."""
_RESULT = re.compile(r"(?i)eval\w*_(?:accuracy|loss|error|score)|validation_\w+")


def training_clock(events: Sequence[Event]) -> list[float]:
    """Return for each event the seconds of training before it.

    Stretches of training are what begins most often and is no evaluation; without any, all is training that is no evaluation.
    Where hardly any of a stretch is no evaluation, evaluations run beside it.
    """
    stretch = _stretch(events)
    clock = _clock(events, stretch, beside=False)
    if stretch is None:
        return clock
    whole = _clock(events, stretch, beside=True)
    return whole if clock and clock[-1] < _BESIDE * whole[-1] else clock


def _clock(events: Sequence[Event], stretch: str | None, *, beside: bool) -> list[float]:
    ends = {event.ends for event in events}
    training, evaluating, passed, clock = stretch is None, False, 0.0, []
    if stretch is not None:
        # the window may begin within a stretch
        training = next((event.ends == stretch for event in events if stretch in (event.begins, event.ends)), False)
    for place, event in enumerate(events):
        if place and training and (beside or not evaluating):
            passed += max(0.0, event.time - events[place - 1].time)
        clock.append(passed)
        begins, stops = event.begins, event.ends
        if stretch is not None and begins == stretch:
            training = True
        elif stretch is not None and stops == stretch:
            training = False
        elif begins is not None and _EVALUATION.search(begins):
            evaluating = True
        elif (stops is not None and _EVALUATION.search(stops)) or (
            evaluating and "eval" not in ends and _RESULT.search(event.name)
        ):
            evaluating = False
    return clock


def _stretch(events: Sequence[Event]) -> str | None:
    begun = Counter(
        event.begins
        for event in events
        if event.begins and event.begins not in _WHOLE and not _EVALUATION.search(event.begins)
    )
    ended = Counter(event.ends for event in events if event.ends)
    often = [(count, name) for name, count in begun.items() if ended[name]]
    return max(often)[1] if often else None
