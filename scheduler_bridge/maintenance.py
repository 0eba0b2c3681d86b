"""Maintenance windows: times in which people work on the cluster, and the bridge leaves it alone."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from schedmate_records import UserError

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKLY = re.compile(rf"(daily|{'|'.join(DAYS)})\s+([0-9]{{2}}):([0-9]{{2}})\s*-\s*([0-9]{{2}}):([0-9]{{2}})", re.ASCII)


class WindowError(UserError):
    """A text that names no time."""


@dataclass(frozen=True, slots=True)
class Window:
    """A time that comes again, or comes once.

    Attributes:
        text: As the operator wrote it.
        day: Day of the week on which it begins, Monday is 0; None: every day, or once.
        begin: Minute of the day at which it begins; of one that comes once, seconds since 1970.
        end: The same of its end, which it leaves out; not after its beginning: on the next day.
        once: It comes once.
    """

    text: str
    day: int | None
    begin: float
    end: float
    once: bool = False

    @classmethod
    def parse(cls, text: str) -> "Window":
        """Read `sat 22:00-06:00`, `daily 01:00-02:00` or `2031-02-03T08:00/2031-02-03T18:00`; all in UTC.

        Raises:
            WindowError: It names no time.
        """
        if found := _WEEKLY.fullmatch(text.strip().lower()):
            begin, end = (int(found[at]) * 60 + int(found[at + 1]) for at in (2, 4))
            if max(begin, end) < 24 * 60 and int(found[3]) < 60 and int(found[5]) < 60:  # minutes of a day
                return cls(text.strip(), None if found[1] == "daily" else DAYS.index(found[1]), begin, end)
        first, slash, last = text.partition("/")
        try:
            begins, ends = (
                datetime.fromisoformat(part.strip()).replace(tzinfo=UTC).timestamp() for part in (first, last)
            )
        except ValueError:
            slash = ""
        if not slash or ends <= begins:
            expected = (
                "a window such as `sat 22:00-06:00`, `daily 01:00-02:00` or `2031-02-03T08:00/2031-02-03T18:00`, in UTC"
            )
            raise WindowError(f"expected {expected}; got {text[:60]!r}")
        return cls(text.strip(), None, begins, ends, once=True)

    def contains(self, now: float) -> bool:
        """True where `now` (seconds since 1970) is in it."""
        if self.once:
            return self.begin <= now < self.end
        at = datetime.fromtimestamp(now, UTC)
        minute = at.hour * 60 + at.minute
        if self.begin < self.end:
            return self._is_on(at) and self.begin <= minute < self.end
        return (self._is_on(at) and minute >= self.begin) or (self._is_on(at - timedelta(days=1)) and minute < self.end)

    def __str__(self) -> str:
        return self.text

    def _is_on(self, at: datetime) -> bool:
        return self.day is None or at.weekday() == self.day
