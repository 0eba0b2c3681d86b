"""Logging of long-running commands: one structured entry per line, on standard error."""

import logging
import os
import re
import sys
import time
from collections.abc import Callable, Collection, MutableMapping
from io import StringIO, TextIOBase
from typing import Any, TextIO, cast

import structlog
from structlog.typing import ExcInfo

from ..settings.settings import ServiceSettings
from ..terminal import printable

_REFUSED = re.compile(r"authenti|authori[sz]|sasl|ssl|tls|certificate|credential|password", re.IGNORECASE)


class _CurrentStderr(TextIOBase):
    """Writes to what `sys.stderr` is at that time: a program that runs commands in its own process replaces it, and closes it."""

    def write(self, text: str, /) -> int:
        """Write `text`."""
        return sys.stderr.write(text)

    def flush(self) -> None:
        """Write what is buffered."""
        sys.stderr.flush()


def configure(settings: ServiceSettings) -> None:
    """Set up structlog, and send the standard library's entries of other packages (warnings and worse) the same way."""
    level = getattr(logging, settings.log_level.upper())
    text = settings.log_format == "text" or (settings.log_format == "auto" and sys.stderr.isatty())
    shared: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    colors = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    console = structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=_traceback)
    renderer: Any = console if text else structlog.processors.JSONRenderer(default=str)

    explain = [_harmless] if text else [structlog.processors.format_exc_info]
    structlog.configure(
        processors=[*shared, *explain, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", _CurrentStderr())),
    )
    handler = logging.StreamHandler(_CurrentStderr())
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, structlog.stdlib.ExtraAdder(), *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *explain, renderer],
        )
    )
    handler.addFilter(ClientFilter(("kafka", "aiokafka")))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(level, logging.WARNING))
    # What is part of schedmate-pipe.pyz knows the standard library alone.
    logging.getLogger("streams").setLevel(level)


def _harmless(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Keep what jobs printed from acting on the terminal where an entry quotes it."""
    return {name: printable(value) if isinstance(value, str) else value for name, value in event.items()}


def _traceback(out: TextIO, failed: ExcInfo) -> None:
    """Write a traceback without the values of variables: passwords are among them."""
    plain = StringIO()
    structlog.dev.plain_traceback(plain, failed)
    out.write(printable(plain.getvalue()))


class ClientFilter(logging.Filter):
    """Passes on only tracebacks of Kafka's clients, and refusals of credentials or certificates.

    They log an unreachable broker at every try of every connection. They also raise an exception, which is logged once an outage.

    Args:
        packages: Names of the packages' top loggers; entries of others all pass.
        every_s: Minimum seconds between two log lines of one place in their code.
    """

    def __init__(
        self, packages: Collection[str], every_s: float = 30.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._packages = packages
        self._every_s = every_s
        self._clock = clock
        self._spoke: dict[tuple[str, int], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether `record` is let through."""
        if record.name.partition(".")[0] not in self._packages:
            return True
        if record.levelno < logging.ERROR:
            return False
        error = record.exc_info[1] if record.exc_info else None
        bug = error is not None and not isinstance(error, OSError)
        if not bug and not _REFUSED.search(f"{record.getMessage()} {error}"):
            return False
        place, now = (record.pathname, record.lineno), self._clock()
        if now - self._spoke.get(place, -self._every_s) < self._every_s:
            return False
        self._spoke[place] = now
        return True
