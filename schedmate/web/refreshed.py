"""An answer that takes long to work out, worked out again in the background, so that no reader waits for it."""

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

import structlog

from sinks import RecordRejected, SinkRejected, SinkUnavailable

log = structlog.get_logger(__name__)
T = TypeVar("T")


class Refreshed(Generic[T]):
    """Holds the newest answer. The first who asks waits for it; from then on it is renewed until `close`.

    Args:
        make: Works the answer out. Where it raises, the old answer is dropped, and the next reader gets the error.
        least_s: Minimum seconds between two answers that were not asked for.
        share: Of the time, spent on working out at most: a large history is asked less often.
        renewed: Called after each renewal that `soon` asked for.
    """

    def __init__(
        self,
        make: Callable[[], T],
        *,
        least_s: float = 5.0,
        share: float = 0.1,
        renewed: Callable[[], None] = lambda: None,
    ) -> None:
        self._make = make
        self._least_s = least_s
        self._share = share
        self._renewed = renewed
        self._first = threading.Lock()
        self._held: tuple[T, float] | None = None
        self._pause_s = 0.0
        self._wanted = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def get(self) -> tuple[T, float]:
        """Return the newest answer, and how many seconds old it is. Raises what `make` raises where there is none yet."""
        with self._first:
            held = self._held
            if held is None:
                held = self._renew()
                self._thread = threading.Thread(target=self._run, name="refresh", daemon=True)
                self._thread.start()
        return held[0], time.monotonic() - held[1]

    def peek(self) -> T | None:
        """Return the newest answer; None while the first is worked out, in the background. Never waits."""
        with self._first:
            if self._held is None and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._begin, name="refresh", daemon=True)
                self._thread.start()
            return self._held[0] if self._held else None

    def soon(self) -> None:
        """Ask for a new answer as soon as its share of the time allows it: something changed."""
        self._wanted.set()

    def close(self) -> None:
        """Renew it no more. Returns once what is being worked out is done."""
        self._stop.set()
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()

    def _renew(self) -> tuple[T, float]:
        began = time.monotonic()
        self._held = (self._make(), began)
        self._pause_s = (time.monotonic() - began) / self._share
        return self._held

    def _begin(self) -> None:
        try:
            self._renew()
        except (SinkUnavailable, SinkRejected, RecordRejected) as error:
            log.warning("refresh_failed", error=str(error))
        else:
            self._run()

    def _run(self) -> None:
        while not self._stop.wait(self._pause_s):
            wanted = self._wanted.wait(max(0.0, self._least_s - self._pause_s))
            self._wanted.clear()
            if self._stop.is_set():
                return
            try:
                self._renew()
            except (SinkUnavailable, SinkRejected, RecordRejected) as error:
                log.warning("refresh_failed", error=str(error))
                with self._first:
                    self._held = None
                return
            if wanted:
                self._renewed()
