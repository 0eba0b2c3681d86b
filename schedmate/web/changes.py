"""Notifies open pages of changes, as server-sent events: never of their content, so that nothing of a job's making is in them."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from typing import Final

import structlog

from streams.changes import Change, ChangeSource
from streams.resilience import Outage
from streams.transport import TransportError

log = structlog.get_logger(__name__)

TOPICS: Final = (
    "decisions", "decision-results", "approvals", "failures", "alarms", "job-events", "checkpoints", "slowdowns", "quotas",
)  # fmt: skip
"""Topics of few messages: a page of one job is notified of those of its own."""
COUNTED: Final = ("job-metrics",)
"""Topics that are written to all the time."""
OVERVIEW: Final = "overview"
"""Sent when the list of all jobs was worked out again because something changed."""


class TooManyClients(Exception):
    """The maximum number of notified pages is reached."""


class Changes:
    """Follows topics in a thread of its own and notifies every page that listens.

    Args:
        source: Where changes are read.
    """

    def __init__(self, source: ChangeSource) -> None:
        self._source = source
        self._clients: set[_Client] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._live: bool | None = None
        self._thread: threading.Thread | None = None

    def start(self, changed: Callable[[], None]) -> None:
        """Follow the topics until `close`; call `changed` before pages are notified."""
        self._thread = threading.Thread(target=self._run, args=(changed,), name="changes", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End all streams, and follow no more."""
        self.end_streams()
        if self._thread is not None:
            self._thread.join()

    def end_streams(self) -> None:
        """End all streams: a server that stops waits for them."""
        self._stop.set()
        for client in self._listening():
            client.call(client.end)

    def publish(self, changes: Collection[Change]) -> None:
        """Notify every page that listens to any of `changes`."""
        for client in self._listening():
            client.call(client.changed, changes)

    async def stream(self, job: str = "") -> AsyncGenerator[str]:
        """Yield events for one page until it goes or the server stops: what changed, of `job` alone where it is given.

        Raises:
            TooManyClients: So many listen already.
        """
        with self._client(job) as client:
            yield "retry: 5000\n\n"
            while not client.ended:
                yield await client.next()

    @contextmanager
    def _client(self, job: str) -> Iterator["_Client"]:
        client = _Client(asyncio.get_running_loop(), job)
        with self._lock:
            # Further pages poll every 15 s.
            if len(self._clients) >= 200 or self._stop.is_set():
                raise TooManyClients
            self._clients.add(client)
            live = self._live
        if live is not None:
            client.following(live)
        try:
            yield client
        finally:
            with self._lock:
                self._clients.discard(client)

    def _listening(self) -> list["_Client"]:
        with self._lock:
            return list(self._clients)

    def _run(self, changed: Callable[[], None]) -> None:
        outage = Outage("Kafka", consequence="pages update every 15 seconds")
        due: deque[tuple[float, set[Change]]] = deque()
        counted_at, pause_s = 0.0, 0.0
        while not self._stop.wait(pause_s):
            try:
                found = self._source.new()
            except TransportError as error:
                pause_s = outage.failed(str(error))
                self._follows(live=False)
                continue
            outage.succeeded()
            self._follows(live=True)
            pause_s, now = 0.5, time.monotonic()
            # A topic that is written to all the time is announced every 10 s.
            if now - counted_at < 10.0:
                found = {each for each in found if each.topic not in COUNTED}
            elif any(each.topic in COUNTED for each in found):
                counted_at = now
            if found:
                # A page reads the database, which the sink writes to: a change is sent when it is probably stored, and
                # again in case that took longer.
                due.extend((now + after, found) for after in (0.5, 3.0))
            ripe = [each for each in due if each[0] <= now]
            if ripe:
                due = deque(each for each in due if each[0] > now)
                changed()
                self.publish(set().union(*(each for _, each in ripe)))
        self._source.close()

    def _follows(self, *, live: bool) -> None:
        with self._lock:
            if live == self._live:
                return
            self._live = live
        for client in self._listening():
            client.call(client.following, live)


class _Client:
    """One open page. All but `call` runs in the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, job: str) -> None:
        self._loop, self._job = loop, job
        self._topics: set[str] = set()
        self._live: bool | None = None
        self._changed_event = asyncio.Event()
        self.ended = False

    def call(self, callback: Callable[..., None], *about: object) -> None:
        with suppress(RuntimeError):  # its loop has ended, and it with it
            self._loop.call_soon_threadsafe(callback, *about)

    def changed(self, changes: Collection[Change]) -> None:
        mine = {each.topic for each in changes if not self._job or each.key in ("", self._job)}
        self._topics |= mine
        if mine:
            self._changed_event.set()

    def following(self, live: bool) -> None:
        self._live = live
        self._changed_event.set()

    def end(self) -> None:
        self.ended = True
        self._changed_event.set()

    async def next(self) -> str:
        """Return the next events; a comment where there were none for a while."""
        with suppress(TimeoutError):
            # A browser that went away is noticed within 15 s.
            await asyncio.wait_for(self._changed_event.wait(), 15.0)
        self._changed_event.clear()
        events = "" if self._live is None else f"event: following\ndata: {'kafka' if self._live else 'nothing'}\n\n"
        if self._topics:
            events += f"event: changed\ndata: {' '.join(sorted(self._topics))}\n\n"
        self._live, self._topics = None, set()
        return events or ":\n\n"
