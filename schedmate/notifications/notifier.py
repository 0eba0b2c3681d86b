"""Sends messages on every channel, each once, in a thread a channel: one that is away holds up no other."""

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

import structlog
from prometheus_client import Counter

from schedmate_records import Decision, EventKind, Failure, JobEvent, Record
from streams.resilience import Outage

from .channels import Channel, ChannelError
from .message import Notification, describe
from .urgency import Urgency

log = structlog.get_logger(__name__)

Key = TypeVar("Key")
Value = TypeVar("Value")

KEPT = 20_000
"""Decisions, owners and keys that are remembered: the newest."""
WAITING = 1000
"""Messages that wait for one channel at most; the newest is dropped and counted."""
SETTLE_S = 5.0
"""Seconds without a new verdict on an attempt after which the verdict is announced: nodes and models revise it soon after the end."""
GIVE_UP_S = 600.0
"""Age at which an undelivered message is dropped and counted: it is of no use any more."""


class NotifierMetrics:
    """What went to people."""

    def __init__(self) -> None:
        self.sent = Counter("schedmate_notify_sent", "Messages sent, by channel.", ["channel"], registry=None)
        self.dropped = Counter(
            "schedmate_notify_dropped",
            "Messages that could not be sent in time, by channel.",
            ["channel"],
            registry=None,
        )
        self.repeats = Counter(
            "schedmate_notify_repeats", "Messages skipped because they were sent before.", registry=None
        )
        for channel in ("webhook", "slack", "email"):
            self.sent.labels(channel)
            self.dropped.labels(channel)


class Notifier:
    """Takes records in, and sends messages to people.

    Args:
        channels: Where to, each with the least severity that it gets.
        repeat_s: Seconds in which the same message goes once.
        clock: Seconds since 1970.
        give_up_s: See `GIVE_UP_S`.
        settle_s: See `SETTLE_S`.
    """

    def __init__(
        self,
        channels: Mapping[Channel, Urgency],
        repeat_s: float = 3600.0,
        clock: Callable[[], float] = time.time,
        give_up_s: float = GIVE_UP_S,
        settle_s: float = SETTLE_S,
    ) -> None:
        self.metrics = NotifierMetrics()
        self._repeat_s, self._clock = repeat_s, clock
        self._decisions: dict[str, Decision] = {}
        self._owners: dict[str, str] = {}
        self._ends: dict[str, JobEvent] = {}
        self._sent: dict[str, float] = {}
        self._settle_s = settle_s
        self._verdicts: dict[tuple[str, int], tuple[float, Failure]] = {}
        self._changed = threading.Condition()
        self._closing = False
        self._settling = threading.Thread(target=self._announce_verdicts, name="notify-verdicts", daemon=True)
        self._lanes = [_Lane(channel, least, self.metrics, give_up_s) for channel, least in channels.items()]
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
        if event.user and not (event.by_producer and event.job in self._owners):
            _remember(self._owners, event.job, event.user)
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
        message = describe(record, known, self._ends.get(getattr(record, "job", "")))
        if message is None or self._is_old(record):
            return
        now = self._clock()
        if now - self._sent.get(message.key, -self._repeat_s) < self._repeat_s:
            self.metrics.repeats.inc()
            return
        _remember(self._sent, message.key, now)
        for lane in self._lanes:
            lane.offer(message, self._owners.get(message.job, ""))

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


class _Lane:
    """One channel's thread."""

    def __init__(self, channel: Channel, least: Urgency, metrics: NotifierMetrics, give_up_s: float) -> None:
        self.name = channel.name
        self._channel, self._least, self._metrics, self._give_up_s = channel, least, metrics, give_up_s
        self._outage = Outage(channel.name, consequence="its messages wait, and nothing else does")
        self._queue: queue.Queue[tuple[Notification, str] | None] = queue.Queue(WAITING)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"notify-{channel.name}", daemon=True)
        self._thread.start()

    @property
    def away(self) -> bool:
        return self._outage.ongoing

    def offer(self, message: Notification, user: str) -> None:
        if message.severity.rank < self._least.rank:
            return
        try:
            self._queue.put_nowait((message, user))
        except queue.Full:
            self._metrics.dropped.labels(self.name).inc()

    def close(self, seconds: float) -> None:
        with contextlib.suppress(queue.Full):
            self._queue.put(None, timeout=seconds)
        self._thread.join(seconds)
        self._stop.set()
        self._thread.join(0.5)

    def _run(self) -> None:
        while (waiting := self._queue.get()) is not None and not self._stop.is_set():
            self._send(*waiting)

    def _send(self, message: Notification, user: str) -> None:
        until = time.monotonic() + self._give_up_s
        while True:
            try:
                self._channel.send(message, user)
            except ChannelError as error:
                pause = self._outage.failed(error)
                if time.monotonic() + pause > until or self._stop.wait(pause):
                    log.warning("message_dropped", channel=self.name, title=message.title, error=str(error))
                    self._metrics.dropped.labels(self.name).inc()
                    return
            except Exception:  # one message must not end the channel
                log.exception("message_dropped", channel=self.name, title=message.title)
                self._metrics.dropped.labels(self.name).inc()
                return
            else:
                self._outage.succeeded()
                self._metrics.sent.labels(self.name).inc()
                return


def _remember(known: dict[Key, Value], key: Key, value: Value) -> None:
    known.pop(key, None)
    known[key] = value
    if len(known) > KEPT:
        del known[next(iter(known))]
