"""The state of jobs kept in this process, for those who have no Redis."""

from collections.abc import Iterable

from schedmate_records import Position, Record

from .changes import SectionUpdate, changes
from .read_state import status_of
from .status import JobStatus


class MemoryState:
    """Takes records as `RedisState` does, and shows the same of them. Nothing expires."""

    def __init__(self) -> None:
        self._hashes: dict[tuple[str, str], dict[str, str]] = {}

    def update(self, batch: Iterable[tuple[Position, Record]]) -> None:
        """Apply the records of `batch`."""
        for place, record in batch:
            for change in changes(place, record):
                self._advance(change)

    def job(self, name: str) -> JobStatus | None:
        """Return the state of a job; None where nothing is known of it."""
        return status_of(name, self._hashes.get(("job", name), {}), self._hashes.get(("ranks", name), {}))

    def _advance(self, change: SectionUpdate) -> None:
        """Do what `advance.lua` does: move one section forward, and never back. It knows jobs by their ids alone."""
        fields = self._hashes.setdefault((change.kind, change.name), {})
        if fields.get(change.section, "") >= change.position:
            return
        fields[change.section] = change.position
        fields.update(change.fields)
        for name in [name for name, text in change.fields.items() if not text]:
            del fields[name]
