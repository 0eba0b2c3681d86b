"""Corrected errors of a host's memory: one is nothing, a flood of one module says that it is about to fail."""

import re

import msgspec

from schedmate_records import Evidence

FLOOD = 10
"""Errors of one module, in a run of lines, that are a flood."""
APART_LINES = 20
"""Lines between two of one run."""
APART_S = 600.0
"""Seconds between two of one run, where the log tells its times."""

_TOLD = re.compile(r"\bEDAC (MC\d+): (\d{1,9}) CE\b.{0,60}?\bon (\S+)")


class CorrectedWatch(msgspec.Struct):
    """The newest run of corrected errors of one module in one stream, or the first that is a flood.

    Attributes:
        module: The memory controller and the module that it names.
        first: Its first line; null while there is none.
        time: When that came.
        errors: Errors that it tells of.
        line: Its newest line.
        newest: When that came.
    """

    module: str = ""
    first: Evidence | None = None
    time: float = 0.0
    errors: int = 0
    line: int = 0
    newest: float = 0.0

    @property
    def flood(self) -> bool:
        """True where the errors are many."""
        return self.errors >= FLOOD

    def read(self, place: Evidence, time: float) -> None:
        """Take a line that tells of corrected errors."""
        found = _TOLD.search(place.text)
        if found is None or self.flood:
            return
        module = f"{found[1]} {found[3]}"
        if module != self.module or place.line - self.line > APART_LINES or time - self.newest > APART_S:
            self.module, self.first, self.time, self.errors = module, place, time, 0
        self.errors, self.line, self.newest = self.errors + int(found[2]), place.line, time
