"""The device of a slot, as a GPU that several processes share: one works on it at a time, and they take turns."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Device:
    """The device of the slot on which this process runs.

    Jobs that wait queue up, so that none takes two turns while another one waits, however busy the host is.
    """

    def __init__(self) -> None:
        name = f"device-{os.environ['LOCAL_NODE']}"
        self._queue = Path(f"{name}.queue").open("w")  # noqa: SIM115 - open as long as the process lives
        self._device = Path(name).open("w")  # noqa: SIM115

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Have the device alone; waits for it."""
        fcntl.flock(self._queue, fcntl.LOCK_EX)
        fcntl.flock(self._device, fcntl.LOCK_EX)
        fcntl.flock(self._queue, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(self._device, fcntl.LOCK_UN)
