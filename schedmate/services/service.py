"""Common parts of long-running commands: structured logs, metrics, a health check, an orderly end."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog

from streams.spans import Spans

from ..settings.settings import ServiceSettings, Settings, SettingsError
from . import logging
from .telemetry import Telemetry
from .traces import exported

log = structlog.get_logger(__name__)


@dataclass
class Service:
    """A running command. `stop` is set on SIGINT and SIGTERM. `spans` takes what traces hold; None where they go nowhere."""

    telemetry: Telemetry
    stop: threading.Event = field(default_factory=threading.Event)
    spans: Spans | None = None


@contextmanager
def service(settings: Settings, name: str, signals: bool = True) -> Iterator[Service]:
    """Set up what a long-running command `name` needs, and take it down at the end."""
    logging.configure(settings.service)
    running = Service(Telemetry())
    if signals:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: running.stop.set())
    if settings.service.port:
        port = _serve(running.telemetry, settings.service)
        log.info("metrics_served", command=name, address=f"http://{settings.service.listen}:{port}/metrics")
    try:
        with exported(settings.service, name) as running.spans:
            yield running
    finally:
        running.telemetry.close()


def _serve(telemetry: Telemetry, settings: ServiceSettings) -> int:
    try:
        return telemetry.serve(settings.listen, settings.port)
    except OSError as error:
        raise SettingsError(
            f"service.port: expected to listen on {settings.listen}:{settings.port}: {error.strerror}; name a free port, or 0 for none"
        ) from error
