"""The process beside a pass-through that understands and ships what it copied.

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
from .pipe_settings import ShippingReport
from .tap import Tap

if TYPE_CHECKING:
    from collections.abc import Callable

    from streams.producer import Producer

    from .pipe_settings import PipeSettings


class ShippingProcess:
    """A forked process and the tap that feeds it.

    `start` must be called while the process has one thread.
    """

    def __init__(self, settings: PipeSettings, tap: Tap, pid: int, report: int) -> None:
        self._settings = settings
        self.tap = tap
        self._pid = pid
        self._report = report

    @classmethod
    def start(cls, settings: PipeSettings, connect: Callable[[], Producer]) -> ShippingProcess:
        """Fork the shipping process. Raises `OSError` where the system allows no further process."""
        data_out, data_in = os.pipe()
        report_out, report_in = os.pipe()
        try:
            pid = os.fork()
        except OSError:
            for descriptor in (data_out, data_in, report_out, report_in):
                os.close(descriptor)
            raise
        if pid == 0:
            os.close(data_in)
            os.close(report_out)
            _main(settings, connect, data_out, report_in)
        os.close(data_out)
        os.close(report_in)
        tap = Tap(data_in, settings.spool, settings.memory, settings.spool_bytes // 2)
        tap.start()
        return cls(settings, tap, pid, report_out)

    def finish(self, patience: float) -> ShippingReport:
        """Hand over the rest and return what the process says, after `patience` seconds at most. It goes on by itself."""
        deadline = time.monotonic() + patience
        left = self.tap.close(patience, linger=self._settings.close_timeout)
        said = b""
        poller = select.poll()
        poller.register(self._report, select.POLLIN)
        while poller.poll(max(0.0, deadline - time.monotonic()) * 1000):
            if not (data := os.read(self._report, 65536)):
                if not said:
                    return ShippingReport(error="the shipping process ended without a word")
                break
            said += data
            if (report := _last(said)) and (report.away or not report.kept):
                break
        report = _last(said) or ShippingReport()
        if left and not report.error:
            return report._replace(error=f"{left} bytes could not be read in time")
        return report


def _last(said: bytes) -> ShippingReport | None:
    """Return the last report that is complete."""
    lines = said.split(b"\n")[:-1]
    if not lines:
        return None
    import json  # noqa: PLC0415  only here, at the end: the command's start waits for no library

    return ShippingReport(*json.loads(lines[-1]))


def _send_report(descriptor: int, report: ShippingReport) -> None:
    with suppress(OSError):  # nobody waits for it any more
        import json  # noqa: PLC0415

        os.write(descriptor, json.dumps(report).encode() + b"\n")


def _main(settings: PipeSettings, connect: Callable[[], Producer], data: int, report: int) -> None:
    """The life of the shipping process; never returns."""
    status = 1
    try:
        step_aside(data, report)
        if settings.log is not None:
            log = os.open(settings.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(log, 2)
            os.close(log)
        from .pipe_shipping import ship  # noqa: PLC0415  here alone, so that the command starts at once

        ship(settings, connect, data, partial(_send_report, report))
        status = 0
    except BaseException as error:  # noqa: BLE001  the last frame of this process: say it and go
        _send_report(report, ShippingReport(error=f"the shipping process failed: {type(error).__name__}: {error}"))
    finally:
        os._exit(status)
