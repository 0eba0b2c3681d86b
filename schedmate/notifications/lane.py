"""One channel's thread and queue, so that a channel that is away holds up no other."""

import contextlib
import queue
import threading
import time

import structlog
from prometheus_client import Counter

from streams.resilience import Outage

from .channel import Channel, ChannelError
from .message import Notification

log = structlog.get_logger(__name__)

WAITING = 1000
"""Messages that wait for one channel at most; the newest is dropped and counted."""
GIVE_UP_S = 600.0
"""Age at which an undelivered message is dropped and counted: it is of no use any more."""


class NotifierMetrics:
    """Metrics of notifications."""

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


class Lane:
    """One channel's thread.

    Args:
        channel: Where messages go.
        metrics: Counts of what was sent.
        give_up_s: See `GIVE_UP_S`.
    """

    def __init__(self, channel: Channel, metrics: NotifierMetrics, give_up_s: float) -> None:
        self.name = channel.name
        self._channel, self._metrics, self._give_up_s = channel, metrics, give_up_s
        self._outage = Outage(channel.name, consequence="its messages wait; other channels continue")
        self._queue: queue.Queue[tuple[Notification, str] | None] = queue.Queue(WAITING)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"notify-{channel.name}", daemon=True)
        self._thread.start()

    @property
    def away(self) -> bool:
        """Whether the channel takes no messages now."""
        return self._outage.ongoing

    def offer(self, message: Notification, user: str) -> None:
        """Send a message of sufficient severity, later. `user` owns its job. Never waits."""
        if message.severity.rank < self._channel.severity.rank:
            return
        try:
            self._queue.put_nowait((message, user))
        except queue.Full:
            self._metrics.dropped.labels(self.name).inc()

    def close(self, seconds: float) -> None:
        """Send what waits, for so many seconds at most, and end."""
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
