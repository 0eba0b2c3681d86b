"""Checks now and then whether the trained model has drifted, and trains again: in a process of its own, parallel to the stream."""

import subprocess
import time
from collections.abc import Callable, Sequence

import structlog

from .metrics import AdvisorMetrics

log = structlog.get_logger(__name__)

FIRST_S = 600.0
"""The first look comes so long after the start, or sooner where looks are more frequent."""
LONGEST_S = 6 * 3600.0
"""A training that takes longer is ended. It needs minutes, but of a processor of which others come first."""


class Retraining:
    """Runs one command every so often, never two at a time, and waits for none.

    Args:
        command: Command that checks and trains; its output is the result.
        environment: Its environment.
        every_s: Seconds between two looks; 0 for never.
        metrics: What is counted.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: dict[str, str],
        every_s: float,
        metrics: AdvisorMetrics,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._command, self._environment, self._every_s = command, environment, every_s
        self._metrics, self._clock = metrics, clock
        self._next = clock() + min(FIRST_S, every_s)
        self._running: subprocess.Popen[str] | None = None
        self._began = 0.0

    def poll(self) -> None:
        """Start a check where one is due, and log how the last one ended. Returns at once."""
        now = self._clock()
        if self._running:
            if self._running.poll() is None:
                if now - self._began > LONGEST_S:
                    self._running.kill()
                return
            self._ended(self._running)
            self._running = None
        if self._every_s and now >= self._next:
            self._next, self._began = now + self._every_s, now
            self._start()

    def close(self) -> None:
        """End a look that is under way: what it writes appears whole or not at all."""
        if self._running:
            self._running.kill()
            self._running.communicate()

    def _start(self) -> None:
        try:
            self._running = subprocess.Popen(
                self._command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        except OSError as error:
            self._metrics.looks_failed.inc()
            log.error("model_not_checked", error=str(error))

    def _ended(self, process: "subprocess.Popen[str]") -> None:
        output = process.communicate()[0].strip()  # a few lines, which fit into the pipe
        if process.returncode:
            self._metrics.looks_failed.inc()
            log.error("model_not_checked", status=process.returncode, output=output[-2000:])
        else:
            self._metrics.looks.inc()
            log.info("model_checked", output=output[-2000:])
