"""Keeps the known formats of a process up to date with the topic `formats`."""

import threading
from collections.abc import Callable, Sequence

import structlog

from processors.formats import KnownFormats
from schedmate_records import InvalidRecord, KnownFormat

from ..accept import accept
from ..transport import Message, TransportError

log = structlog.get_logger(__name__)

TOPIC = "formats"


class FormatsFollower:
    """Reads what is new on the topic and adds it to the known formats.

    Args:
        new: Returns what was written since its last call. May raise `TransportError`.
    """

    def __init__(self, new: Callable[[], Sequence[Message]], known: KnownFormats) -> None:
        self._new, self._known = new, known
        self._is_away = False

    def look(self) -> bool:
        """Add what is new; return whether the topic could be read. An invalid record is passed over: the sink sets it aside."""
        try:
            messages = self._new()
        except TransportError as error:
            if not self._is_away:
                log.warning("formats_not_read", reason=str(error))
            self._is_away = True
            return False
        self._is_away = False
        for message in messages:
            try:
                record = accept(message)
            except InvalidRecord:
                continue
            if isinstance(record, KnownFormat):
                self._known.add(record)
        return True

    def start(self, stop: threading.Event) -> None:
        """Look once, then again every few seconds in a thread until `stop` is set."""
        self.look()
        threading.Thread(target=self._run, args=(stop,), name="formats", daemon=True).start()

    def _run(self, stop: threading.Event) -> None:
        # A format that was stated is applied everywhere within 5 s.
        while not stop.wait(5.0):
            self.look()
