"""Sends messages on every channel, each once, in a thread a channel: one that is away holds up no other."""

import threading
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from schedmate_records import Decision, EventKind, Failure, JobEvent, Record

from .cards import Cards
from .channel import Channel
from .lane import GIVE_UP_S, Lane, NotifierMetrics
from .message import KnownJob, describe

Key = TypeVar("Key")
Value = TypeVar("Value")

SETTLE_S = 5.0
"""Seconds without a new verdict on an attempt after which the verdict is announced: nodes and models revise it soon after the end."""


class Notifier:
    """Takes records in, and sends messages to people.

    Args:
        channels: The channels.
        repeat_s: Seconds in which the same message goes once.
        clock: Seconds since 1970.
        give_up_s: See `GIVE_UP_S`.
        settle_s: See `SETTLE_S`.
        cards: Sends report cards; None: none are sent.
    """

    def __init__(
        self,
        channels: Iterable[Channel],
        repeat_s: float = 3600.0,
        clock: Callable[[], float] = time.time,
        *,
        give_up_s: float = GIVE_UP_S,
        settle_s: float = SETTLE_S,
        cards: Cards | None = None,
    ) -> None:
        self.metrics = NotifierMetrics() if cards is None else cards.metrics
        self._cards = cards
        self._repeat_s, self._clock = repeat_s, clock
        self._decisions: dict[str, Decision] = {}
        self._jobs: dict[str, KnownJob] = {}
        self._ends: dict[str, JobEvent] = {}
        self._sent: dict[str, float] = {}
        self._settle_s = settle_s
        self._verdicts: dict[tuple[str, int], tuple[float, Failure]] = {}
        self._changed = threading.Condition()
        self._closing = False
        self._settling = threading.Thread(target=self._announce_verdicts, name="notify-verdicts", daemon=True)
        self._lanes = [Lane(channel, self.metrics, give_up_s) for channel in channels]
        self._settling.start()

    def add_record(self, record: Record) -> None:
        """Take in one record. Never waits for a channel."""
        with self._changed:
            match record:
                case Decision():
                    _remember(self._decisions, record.id, record)
                case JobEvent():
                    self._note_event(record)
                case Failure():
                    self._note_verdict(record)
                    return
            self._send(record)

    def _note_event(self, event: JobEvent) -> None:
        known = self._jobs.get(event.job, KnownJob())
        if not (event.by_producer and known.user):
            newer = KnownJob(event.user or known.user, event.name or known.name, tuple(event.nodes) or known.nodes)
            _remember(self._jobs, event.job, newer)
        if self._cards and event.kind is EventKind.ENDED and not event.by_producer and not self._is_old(event):
            self._cards.add(event, self._jobs[event.job].user)
        before = self._ends.get(event.job)
        if event.kind is EventKind.ENDED and (before is None or before.by_producer or not event.by_producer):
            _remember(self._ends, event.job, event)

    def _note_verdict(self, failure: Failure) -> None:
        """Keep the newest final verdict on an attempt until no other has come for a while."""
        attempt = failure.job, failure.attempt
        _, before = self._verdicts.get(attempt, (0.0, failure))
        if failure.revision < before.revision:
            return
        if failure.final:
            _remember(self._verdicts, attempt, (time.monotonic() + self._settle_s, failure))
            self._changed.notify()
        else:
            self._verdicts.pop(attempt, None)

    def _announce_verdicts(self) -> None:
        with self._changed:
            while self._verdicts or not self._closing:
                attempt, (due, failure) = next(iter(self._verdicts.items()), (None, (0.0, None)))
                if attempt is None or failure is None:
                    self._changed.wait()
                elif not self._closing and (left := due - time.monotonic()) > 0:
                    self._changed.wait(left)
                else:
                    del self._verdicts[attempt]
                    self._send(failure)

    def _send(self, record: Record) -> None:
        known = self._decisions.get(getattr(record, "decision_id", ""))
        name = getattr(record, "job", "")
        job = self._jobs.get(name, KnownJob())
        message = describe(record, known, self._ends.get(name), job)
        if message is None or self._is_old(record):
            return
        now = self._clock()
        if now - self._sent.get(message.key, -self._repeat_s) < self._repeat_s:
            self.metrics.repeats.inc()
            return
        _remember(self._sent, message.key, now)
        for lane in self._lanes:
            lane.offer(message, job.user)

    def problems(self) -> list[str]:
        """Return what is wrong, for the health check."""
        return [f"{lane.name} does not take messages" for lane in self._lanes if lane.away]

    def close(self, seconds: float = 5.0) -> None:
        """Send what waits, for so many seconds at most, and end."""
        deadline = time.monotonic() + seconds
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._settling.join(seconds)
        if self._cards:
            self._cards.close(seconds)
        for lane in self._lanes:
            lane.close(max(0.1, deadline - time.monotonic()))

    def _is_old(self, record: Record) -> bool:
        """True for records that are read again after a long time: they lead to no message.

        A verdict has the time of its line, which may be long before the end that made it final.
        """
        times = [getattr(record, "time", 0.0)]
        if isinstance(record, Failure) and (end := self._ends.get(record.job)):
            times.append(end.time)
        return self._clock() - max(times) > GIVE_UP_S


def _remember(known: dict[Key, Value], key: Key, value: Value) -> None:
    known.pop(key, None)
    known[key] = value
    if len(known) > 20_000:
        del known[next(iter(known))]
