"""Report cards by e-mail: each goes to the user of a job some seconds after the end of an attempt."""

import queue
import threading
import time
from collections.abc import Callable, Collection

from schedmate_records import JobEvent
from sinks import SinkRejected, SinkUnavailable
from streams.resilience import Outage

from ..report_card import ReportCard
from .channel import Channel
from .lane import GIVE_UP_S, WAITING, Lane, NotifierMetrics
from .message import Notification
from .urgency import Urgency

DELAY_S = 30.0
"""Seconds from the end to the card: the last samples are stored by then, and the verdict has settled."""
ReadCard = Callable[[str, int], ReportCard | None]
"""Reads the card of an attempt from ClickHouse. Raises `SinkUnavailable` and `SinkRejected`."""


class Cards:
    """Sends the report card of each attempt that a scheduler reports as ended to the user of the job.

    Args:
        channel: Sends each message to the user alone.
        users: Users who get cards; `*`: all users.
        read: Reads a card.
        delay_s: See `DELAY_S`.
    """

    def __init__(self, channel: Channel, users: Collection[str], read: ReadCard, delay_s: float = DELAY_S) -> None:
        self.metrics = NotifierMetrics()
        self._lane = Lane(channel, self.metrics, GIVE_UP_S)
        self._users, self._read, self._delay_s = users, read, delay_s
        self._outage = Outage("ClickHouse", consequence="report cards wait")
        self._ends: queue.Queue[tuple[float, JobEvent, str] | None] = queue.Queue(WAITING)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="notify-cards", daemon=True)
        self._thread.start()

    def add(self, end: JobEvent, user: str) -> None:
        """Send the card of the attempt that ended to `user`, later. Never waits."""
        if user and (user in self._users or "*" in self._users):
            try:
                self._ends.put_nowait((time.monotonic() + self._delay_s, end, user))
            except queue.Full:
                self.metrics.dropped.labels("email").inc()

    def close(self, seconds: float) -> None:
        """Send what has been read, for so many seconds at most, and end."""
        self._stop.set()
        self._thread.join(seconds)
        self._lane.close(seconds)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                waiting = self._ends.get(timeout=0.5)
            except queue.Empty:
                continue
            if waiting is None:
                return
            due, end, user = waiting
            if self._stop.wait(max(0.0, due - time.monotonic())):
                return
            card = self._card(end)
            if card is None:
                self.metrics.dropped.labels("email").inc()
            else:
                self._lane.offer(card_message(card, end), user)

    def _card(self, end: JobEvent) -> ReportCard | None:
        """Return the card of an attempt once the database holds its end; None where it does not get there in time."""
        until = time.monotonic() + GIVE_UP_S
        while time.monotonic() < until:
            pause = 1.0
            try:
                card = self._read(end.job, end.attempt)
                self._outage.succeeded()
                if card is not None and not card.word.is_live:
                    return card
            except (SinkUnavailable, SinkRejected) as error:
                pause = self._outage.failed(error)
            if self._stop.wait(pause):
                return None
        return None


def card_message(card: ReportCard, end: JobEvent) -> Notification:
    """Return the message with a report card."""
    title, columns, rows = card.table()
    lines = [f"{name}: " + ", ".join(f"{column} {value}" for column, value in zip(columns[1:], values, strict=True) if value != "")
             for name, *values in ((row[0], *("-" if value is None else value for value in row[1:])) for row in rows)]  # fmt: skip
    return Notification(
        key=f"card/{card.job}/{card.attempt}",
        severity=Urgency.INFO,
        title=title,
        lines=(card.advice, "", *lines),
        quotes=(),
        labels={"kind": "card", "job": card.job},
        record=end,
        job=card.job,
    )
