"""Events: lines that say, at a printed time, that something begins or ends, and how far the training has come.

Structured logs (JSON objects, or a key and its value) print `{"time_ms": …, "key": "epoch_start", "metadata": {"samples_count": 64}}`.
Which of their numbers count, and what they count, the names do not settle: the solver does. The clock of training alone leaves out
evaluations and what else lies between stretches of training.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

import msgspec

from ..grammar.fields import name_before
from .series import Row, SeriesReader

EVENT, FIELD = ":::", '":'
"""One of them is in every structured line."""

ROWS = 240
"""Newest events that are kept."""

_FIELDS, _NAME = 4, 40
_SAME_S = 0.5
"""Seconds within which the same event is another rank's."""
_BACK_S = 5.0
"""Seconds by which a later event may have an earlier time: beyond, it is told again."""
_STATED_S = 60.0
"""Seconds after the begin of a run in which all ranks have begun and sizes are stated; later, it says how many samples were used in all."""
_MOST = 1e15
"""Upper limit of a counter: no training has more steps, and floating-point numbers are exact whole numbers below it."""

_KEY = re.compile(r"[\"'](?:key|event|name|metric|stage|phase)[\"']\s*:\s*[\"']([^\"']{1,80})[\"']")
_WORD = re.compile(r"(?:^|[\s)\]}])([a-z][a-z0-9]*(?:_[a-z0-9]+)+|[a-z]{4,})(?=\s*:|\s*$)")
_MARK = re.compile(r"(?i)^(\w*?)_?(start|begin|stop|end|finish)(?:ed|ped)?$")
_VALUE = re.compile(r"(?i)^(?:value|val|v)$")
_BATCH = re.compile(r"(?i)^(?!.*(?:eval|val|test|micro|local))\w*(?:global|total|effective)\w*batch_?size$")
"""Of all devices together; another may be that of one of them."""
_LENGTH = re.compile(r"(?i)seq\w*_?len")
_SAMPLES = re.compile(r"(?i)^(?:preproc_)?(?:num_)?train\w*_(?:num_)?(?:samples|examples|images)$")
_EPOCH = re.compile(r"(?i)epoch")
"""Of counters, only epochs are printed with decimals."""
_PLACE = re.compile(r"(?i)^(?:line_?no|line|status|rank|node|pid|seed)$|time|_lr$|^lr$")


class Event(msgspec.Struct, array_like=True):
    """One event: its time in seconds since 1970, its name, and its numbers that may count something, by name."""

    time: float
    name: str
    numbers: dict[str, float] = {}

    @property
    def begins(self) -> str | None:
        """What begins; None where nothing does."""
        found = _MARK.match(self.name)
        return found[1] if found and found[2].lower() in ("start", "begin") else None

    @property
    def ends(self) -> str | None:
        """What ends; None where nothing does."""
        found = _MARK.match(self.name)
        return found[1] if found and found[2].lower() not in ("start", "begin") else None


class EventState(msgspec.Struct):
    """The newest events of one stream, and the sizes that the log states.

    Attributes:
        events: The newest ones of the newest run, oldest first.
        begun: When the run began, in seconds since 1970; 0 before.
        batch: Samples in a step, of all devices together.
        length: Tokens in a sample.
        samples: Training samples in an epoch.
        trained: Samples that the run has used in all, told at its end.
    """

    events: list[Event] = []
    begun: float = 0.0
    batch: float | None = None
    length: float | None = None
    samples: float | None = None
    trained: float | None = None

    @property
    def last_step(self) -> int | None:
        """The last step of a run that told at its end how many samples it used; None before, and where they are no whole batches."""
        if not self.trained or not self.batch or self.trained % self.batch:
            return None
        return int(self.trained / self.batch)

    def add(self, event: Event) -> bool:
        """Take in an event; return whether it says something new."""
        self._take_sizes(event)
        if event.begins == "run" and event.time - self.begun > _STATED_S:
            self.events, self.begun, self.trained = [], event.time, None
        newest = self.events[-1].time if self.events else 0.0
        if event.time < newest - _BACK_S or not (event.numbers or _MARK.match(event.name)):
            return False
        for known in islice(reversed(self.events), 64):
            if known.name == event.name and known.numbers == event.numbers and event.time - known.time < _SAME_S:
                return False
        self.events = [*self.events, event][-ROWS:]
        return True

    def _take_sizes(self, event: Event) -> None:
        for name, value in event.numbers.items():
            if value < 1:
                continue
            if _BATCH.match(name):
                self.batch = value
            elif _LENGTH.search(name):
                self.length = value
            elif _SAMPLES.match(name):
                if not self.begun or event.time - self.begun <= _STATED_S:
                    self.samples = value
                else:
                    self.trained = value


def event_of(row: Row) -> Event | None:
    """Return the event that a row tells; None where it has no date or no name."""
    if row.stamp is None:
        return None
    name = event_name(row.template.text)
    if not name or len(name) > 2 * _NAME:
        return None
    numbers: dict[str, float] = {}
    for index, ((before, _), value) in enumerate(zip(row.template.around, row.values, strict=True)):
        if index == row.template.since_1970 or row.template.durations[index]:
            continue
        called = name_before(before)
        called = name if _VALUE.match(called) else called
        whole = value == int(value) if abs(value) < _MOST else False
        if (
            called.isidentifier()
            and not _PLACE.search(called)
            and (whole or _EPOCH.search(called))
            and 0 <= value < _MOST
        ):
            numbers.setdefault(called[:_NAME], value)
    return Event(row.stamp, name[:_NAME], dict(islice(numbers.items(), _FIELDS)))


def event_name(text: str) -> str:
    """Return what the event of a template is called; empty where it has no name."""
    found = _KEY.search(text) or (_WORD.search(text) if text.startswith(":::") else None)
    return found[1] if found else ""


def observe(lines: Sequence[tuple[int, str]], reader: SeriesReader, state: EventState) -> int | None:
    """Take in lines with their places; return the place of the newest that said something new, or None."""
    newest = None
    for place, line in lines:
        row = reader.read(line, place, 0.0)
        event = event_of(row) if row is not None else None
        if event is not None and state.add(event):
            newest = place
    return newest


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
