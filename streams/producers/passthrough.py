"""Moving bytes from one file descriptor to another, untouched and at once.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import fcntl
import os
import select
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum


class Ended(Enum):
    """Why a pump stopped."""

    INPUT = "input"
    """The source ended."""
    BROKEN = "broken"
    """The sink is closed: nothing reads it any more."""
    STOPPED = "stopped"
    """It was asked to."""


class Passthrough:
    """Copies `source` to `sink` and shows each block, after it was passed on, to `copy`.

    Args:
        copy: Gets the arrival time and the bytes. What it raises ends only the copying.
        stop: Descriptor that becomes readable when the pump shall stop. `source` must then be non-blocking.
    """

    def __init__(
        self,
        source: int,
        sink: int,
        copy: Callable[[float, bytes], None],
        *,
        stop: int | None = None,
    ) -> None:
        self._source, self._sink, self._stop = source, sink, stop
        self._copy: Callable[[float, bytes], None] | None = copy
        self.failure: OSError | None = None
        """The first error other than a closed sink (a full disk, for example); the blocks that it hit did not reach the sink."""
        self._waiting = False

    def run(self) -> Ended:
        """Copy until the source ends, the sink is closed, or a stop is asked for."""
        while True:
            try:
                # 64 KB: what a pipe holds, and small enough for the allocator to reuse.
                data = os.read(self._source, 64 * 1024)
            except BlockingIOError:
                if self._wait_for_input():
                    continue
                return Ended.STOPPED
            except OSError as error:
                # A terminal that went away (EIO): the end of the input.
                self.failure = self.failure or error
                return Ended.INPUT
            if not data:
                return Ended.INPUT
            arrived = time.time()
            if not self._pass_on(data):
                return Ended.BROKEN
            if self._copy is not None:
                try:
                    self._copy(arrived, data)
                except Exception:  # noqa: BLE001  the job goes on whatever happens to its copy
                    self._copy = None

    @property
    def quiet(self) -> bool:
        """True where everything that was written to the source so far has been passed on, and more may come."""
        return self._waiting and not any(fcntl.ioctl(self._source, termios.FIONREAD, bytes(4)))

    def _wait_for_input(self) -> bool:
        poller = select.poll()
        poller.register(self._source, select.POLLIN)
        if self._stop is not None:
            poller.register(self._stop, select.POLLIN)
        self._waiting = True
        ready = poller.poll()
        self._waiting = False
        return not any(descriptor == self._stop for descriptor, _ in ready)

    def _pass_on(self, data: bytes) -> bool:
        """Write all of `data`. False where the sink is closed; any other error is noted and the stream goes on, as in tee."""
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._sink, view) :]
            except BlockingIOError:
                poller = select.poll()
                poller.register(self._sink, select.POLLOUT)
                poller.poll()
            except BrokenPipeError:
                return False
            except OSError as error:
                self.failure = self.failure or error
                return True
        return True


def widen(pipe: int) -> None:
    """Let a pipe hold 1 MB instead of 64 KB where the system allows it, so that a burst does not block its writer."""
    with suppress(OSError):
        # Linux's F_SETPIPE_SZ, named in `fcntl` since Python 3.10.
        fcntl.fcntl(pipe, 1031, 1 << 20)
