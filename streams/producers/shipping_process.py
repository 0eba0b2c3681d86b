"""The process next to a pass-through that understands and ships what it copied.

It is a process of its own so that nothing in it, neither a crash nor Python's global lock, can hold up the job. What it needs is loaded
in it alone, so that the command starts at once.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import os
import select
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from .background import step_aside
from .backlog import Budgets
from .pipe_settings import ShippingReport, describe, rest_directory
from .progress import Progress, Totals
from .rest import Rest, Start
from .tap import Tap

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..producer import Producer
    from .pipe_settings import PipeSettings

LOAD_SECONDS = 0.1
"""Seconds in which a shipping process is not expected to load: it needs 0.04 s of processor time, and has a low priority."""


class ShippingProcess:
    """A forked process and the tap that feeds it, and another process in its place where it is killed.

    `start` must be called while the process has one thread.
    """

    def __init__(self, settings: PipeSettings, connect: Callable[[], Producer]) -> None:
        self._settings, self._connect = settings, connect
        self._progress = Progress()
        self._pid = self._report = -1
        self._number = 0
        self.tap: Tap

    @classmethod
    def start(cls, settings: PipeSettings, connect: Callable[[], Producer]) -> ShippingProcess:
        """Fork the shipping process. Raises `OSError` where the system allows no further process."""
        shipping = cls(settings, connect)
        pipe = shipping._fork(Start(0, Totals()))
        shipping.tap = Tap(
            pipe,
            shipping._make_rest,
            shipping._progress,
            Budgets(settings.memory, settings.spool_bytes // 2),
            shipping._fork,
        )
        shipping.tap.start()
        return shipping

    def finish(self, patience: float) -> ShippingReport:
        """Hand over the rest and return what the process reports, after about `patience` seconds at most. It goes on by itself.

        Do not wait where the shipping process cannot read the rest in that time, because it is far behind or still loads.
        """
        # A shipping process reads 20 to 30 MB/s on an idle core, so never 50 MB/s.
        if self.tap.bytes_to_write > patience * 50e6 or (not self._progress.reads and patience < LOAD_SECONDS):
            patience = 0.0
        deadline = time.monotonic() + patience
        report = self._wait_for_report(deadline) if self.tap.close(patience) else None
        if report is not None and report.error:
            self.tap.note_gone()
        lost = self.tap.leave(self._settings.close_timeout)
        if self.tap.broken:
            then = f"{lost} lines are lost" if lost else f"what is left is kept in {self._settings.spool}"
            why = (report or ShippingReport()).error or "the shipping process ended early"
            return (report or ShippingReport())._replace(error=f"{why}; {then}")
        return report or ShippingReport()

    def _wait_for_report(self, deadline: float) -> ShippingReport | None:
        received = b""
        poller = select.poll()
        poller.register(self._report, select.POLLIN)
        while poller.poll(max(0.0, deadline - time.monotonic()) * 1000):
            if not (data := os.read(self._report, 65536)):
                if not received:
                    self.tap.note_gone()
                break
            received += data
            if (report := _last(received)) and (report.error or report.away or not report.kept):
                break
        return _last(received)

    def _make_rest(self) -> Rest:
        return Rest.create(rest_directory(self._settings), self._progress.passed_bytes, describe(self._settings))

    def _fork(self, start: Start) -> int:
        """Fork a shipping process that gets everything from `start` on. Return the pipe to it. Raises `OSError`."""
        pipes: list[int] = []
        self._progress.reads = False
        try:
            pipes += os.pipe()
            pipes += os.pipe()
            pid = os.fork()
        except OSError:
            for descriptor in pipes:
                os.close(descriptor)
            raise
        data_out, data_in, report_out, report_in = pipes
        if pid == 0:
            os.close(data_in)
            os.close(report_out)
            _main(self._settings, self._connect, (data_out, start, self._number), self._progress, report_in)
        os.close(data_out)
        os.close(report_in)
        if self._number:
            os.close(self._report)
            with suppress(OSError):
                os.waitpid(self._pid, os.WNOHANG)
        self._pid, self._report, self._number = pid, report_out, self._number + 1
        return data_in


def _last(said: bytes) -> ShippingReport | None:
    """Return the last report that is complete."""
    lines = said.split(b"\n")[:-1]
    if not lines:
        return None
    import json  # noqa: PLC0415  only here, at the end: the command's start waits for no library

    return ShippingReport(*json.loads(lines[-1]))


def _send_report(descriptor: int, report: ShippingReport) -> None:
    with suppress(OSError):  # the reader is gone
        import json  # noqa: PLC0415

        os.write(descriptor, json.dumps(report).encode() + b"\n")


def _main(
    settings: PipeSettings,
    connect: Callable[[], Producer],
    received: tuple[int, Start, int],
    progress: Progress,
    report: int,
) -> None:
    """The life of the shipping process; never returns."""
    status = 1
    try:
        step_aside(received[0], report)
        if settings.log is not None:
            with suppress(OSError):
                log = os.open(settings.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                os.dup2(log, 2)
                os.close(log)
        from .pipe_shipping import Received, ship  # noqa: PLC0415  here alone, so that the command starts at once

        ship(settings, connect, Received(*received), progress, partial(_send_report, report))
        status = 0
    except BaseException as error:  # noqa: BLE001  the last frame of this process: report it and end
        _send_report(report, ShippingReport(error=f"the shipping process failed: {type(error).__name__}: {error}"))
    finally:
        os._exit(status)
