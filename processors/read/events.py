"""Events: lines with a printed time at which something begins or ends, or with the progress of the training.

Structured logs (JSON objects, or a key and its value) print `{"time_ms": …, "key": "epoch_start", "metadata": {"samples_count": 64}}`.
Which of their numbers count, and what they count, the names do not decide: the solver does. The clock of training alone leaves out
evaluations and what else lies between stretches of training.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

import msgspec

from ..grammar.fields import name_before
from .series import Row, SeriesReader

ROWS = 240
"""Newest events that are kept."""

_FIELDS, _NAME = 4, 40
_SAME_S = 0.5
"""Seconds within which the same event is another rank's."""
_BACK_S = 5.0
"""Seconds by which a later event may have an earlier time. Beyond, it is printed a second time."""
_STATED_S = 60.0
"""Seconds after the begin of a run in which all ranks have begun and sizes are stated; later numbers are those of the whole run."""
_MOST = 1e15
"""Larger numbers are ids."""


class Event(msgspec.Struct, array_like=True):
    """One event: its time in seconds since 1970, its name, and its numbers that may count something, by name."""

    time: float
    name: str
    numbers: dict[str, float] = {}

    @property
    def begins(self) -> str | None:
        """Work that begins; None for none."""
        found = _FORMS["mark"].match(self.name)
        return found[1] if found and found[2].lower() in ("start", "begin") else None

    @property
    def ends(self) -> str | None:
        """Work that ends; None for none."""
        found = _FORMS["mark"].match(self.name)
        return found[1] if found and found[2].lower() not in ("start", "begin") else None


class EventState(msgspec.Struct):
    """The newest events of one stream, and the sizes that the log states.

    Attributes:
        events: The newest ones of the newest run, oldest first.
        begun: When the run began, in seconds since 1970; 0 before.
        batch: Samples in a step, of all devices together.
        length: Tokens in a sample.
        samples: Training samples in an epoch.
        trained: Samples that the run has used in all, printed at its end.
    """

    events: list[Event] = []
    begun: float = 0.0
    batch: float | None = None
    length: float | None = None
    samples: float | None = None
    trained: float | None = None

    @property
    def last_step(self) -> int | None:
        """The last step of a run that printed at its end how many samples it used; None before, and where they are no whole batches."""
        if not self.trained or not self.batch or self.trained % self.batch:
            return None
        return int(self.trained / self.batch)

    def add(self, event: Event) -> bool:
        """Add an event; return whether it is new."""
        self._take_sizes(event)
        if event.begins == "run" and event.time - self.begun > _STATED_S:
            self.events, self.begun, self.trained = [], event.time, None
        newest = self.events[-1].time if self.events else 0.0
        if event.time < newest - _BACK_S or not (event.numbers or _FORMS["mark"].match(event.name)):
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
            if _FORMS["batch"].match(name):
                self.batch = value
            elif _FORMS["length"].search(name):
                self.length = value
            elif _FORMS["samples"].match(name):
                if not self.begun or event.time - self.begun <= _STATED_S:
                    self.samples = value
                else:
                    self.trained = value


def event_of(row: Row) -> Event | None:
    """Return the event in a row; None where it has no date or no name."""
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
        called = name if _FORMS["value"].match(called) else called
        whole = value == int(value) if abs(value) < _MOST else False
        if (
            called.isidentifier()
            and not _FORMS["place"].search(called)
            and (whole or _FORMS["epoch"].search(called))
            and 0 <= value < _MOST
        ):
            numbers.setdefault(called[:_NAME], value)
    return Event(row.stamp, name[:_NAME], dict(islice(numbers.items(), _FIELDS)))


def is_structured(template: str) -> bool:
    """Return whether the lines of `template` may be events."""
    return ":::" in template or '":' in template


def event_name(text: str) -> str:
    """Return what the event of a template is called; empty where it has no name."""
    found = _FORMS["key"].search(text) or (_FORMS["word"].search(text) if text.startswith(":::") else None)
    return found[1] if found else ""


def observe(lines: Sequence[tuple[int, str]], reader: SeriesReader, state: EventState) -> int | None:
    """Read lines with their places; return the place of the newest new one, or None."""
    newest = None
    for place, line in lines:
        row = reader.read(line, place, 0.0)
        event = event_of(row) if row is not None else None
        if event is not None and state.add(event):
            newest = place
    return newest


_WHOLE = ("run", "init")
_FORMS = {
    "key": re.compile(r"[\"'](?:key|event|name|metric|stage|phase)[\"']\s*:\s*[\"']([^\"']{1,80})[\"']"),
    "word": re.compile(r"(?:^|[\s)\]}])([a-z][a-z0-9]*(?:_[a-z0-9]+)+|[a-z]{4,})(?=\s*:|\s*$)"),
    "mark": re.compile(r"(?i)^(\w*?)_?(start|begin|stop|end|finish)(?:ed|ped)?$"),
    "value": re.compile(r"(?i)^(?:value|val|v)$"),
    # Of all devices together; another may be that of one of them.
    "batch": re.compile(r"(?i)^(?!.*(?:eval|val|test|micro|local))\w*(?:global|total|effective)\w*batch_?size$"),
    "length": re.compile(r"(?i)seq\w*_?len"),
    "samples": re.compile(r"(?i)^(?:preproc_)?(?:num_)?train\w*_(?:num_)?(?:samples|examples|images)$"),
    # Of counters, only epochs are printed with decimals.
    "epoch": re.compile(r"(?i)epoch"),
    "place": re.compile(r"(?i)^(?:line_?no|line|status|rank|node|pid|seed)$|time|_lr$|^lr$"),
    "evaluation": re.compile(r"(?i)eval|valid|test"),
    "result": re.compile(r"(?i)eval\w*_(?:accuracy|loss|error|score)|validation_\w+"),
}


def training_clock(events: Sequence[Event]) -> list[float]:
    """Return for each event the seconds of training before it.

    Stretches of training are what begins most often and is no evaluation; without any, everything but evaluations is training.
    """
    stretch = _stretch(events)
    ends = {event.ends for event in events}
    training, evaluating, passed, clock = stretch is None, False, 0.0, []
    if stretch is not None:
        # the window may begin within a stretch
        training = next((event.ends == stretch for event in events if stretch in (event.begins, event.ends)), False)
    for place, event in enumerate(events):
        if place and training and not evaluating:
            passed += max(0.0, event.time - events[place - 1].time)
        clock.append(passed)
        begins, stops = event.begins, event.ends
        if stretch is not None and begins == stretch:
            training = True
        elif stretch is not None and stops == stretch:
            training = False
        elif begins is not None and _FORMS["evaluation"].search(begins):
            evaluating = True
        elif (stops is not None and _FORMS["evaluation"].search(stops)) or (
            evaluating and "eval" not in ends and _FORMS["result"].search(event.name)
        ):
            evaluating = False
    return clock


def _stretch(events: Sequence[Event]) -> str | None:
    begun = Counter(
        event.begins
        for event in events
        if event.begins and event.begins not in _WHOLE and not _FORMS["evaluation"].search(event.begins)
    )
    ended = Counter(event.ends for event in events if event.ends)
    often = [(count, name) for name, count in begun.items() if ended[name]]
    return max(often)[1] if often else None
