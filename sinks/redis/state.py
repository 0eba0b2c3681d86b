"""Keeping the state of every job and node."""

import time
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

from schedmate_records import Position, Record
from schedmate_records.metrics import MetricFactory

from .changes import SectionUpdate, changes
from .connect import translate_errors
from .keys import PREFIX, Keys

if TYPE_CHECKING:
    import redis

_CHANGES_A_TRIP = 1000
"""Changes of one pipeline: Redis serves others in between, and its answers fit into memory."""


class StateMetrics:
    """Counts of what was written."""

    def __init__(self) -> None:
        make = MetricFactory("schedmate_redis")
        self.update_duration = make.histogram(
            "update_duration_seconds", "Time of one call that wrote a batch.", unit="seconds"
        )
        self.changes = make.counter("changes", "Sections updated.")
        self.late = make.counter("late", "Sections not written because the stored one was as new.")
        self.superseded = make.counter("superseded", "Changes that a later change of the same batch replaced.")
        self.failures = make.counter("failures", "Calls that failed.")


class RedisState:
    """Writes the current state from records. A record that is late or comes again never turns the state back.

    Thread-safe as far as the client is; two writers at once do no harm.

    Attributes:
        metrics: What was written so far.
    """

    # A silent job is forgotten after a week: ClickHouse holds the history. A job that ended is shown for a day.
    def __init__(
        self,
        client: "redis.Redis",
        *,
        prefix: str = PREFIX,
        keep_s: float = 7 * 86_400.0,
        keep_ended_s: float = 86_400.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Set up; nothing is sent yet.

        Args:
            client: As `open_redis` returns it.
            prefix: Before every key.
            keep_s: Seconds that a job or node stays after its last update.
            keep_ended_s: The same for a job that has ended.
            clock: Seconds since 1970.
        """
        self.metrics = StateMetrics()
        self._client = client
        self._keys = Keys(prefix)
        self._keep_s = max(int(keep_s), 1)
        self._keep_ended_s = max(int(keep_ended_s), 1)
        self._clock = clock
        self._advance = client.register_script(files(__package__).joinpath("advance.lua").read_text("utf-8"))

    def update(self, batch: Sequence[tuple[Position, Record]]) -> None:
        """Apply the records of `batch`; return once Redis has all of it.

        Raises:
            SinkUnavailable: Redis is away, loading or full. Write the batch again: what it has already stays as it is.
            SinkRejected: Redis refuses the user, or a key of ours holds something else.
        """
        made = [change for place, record in batch for change in changes(place, record)]
        wanted, began = _newest(made), time.perf_counter()
        try:
            with translate_errors(self._client, "writing the state to Redis"):
                for start in range(0, len(wanted), _CHANGES_A_TRIP):
                    self._send(wanted[start : start + _CHANGES_A_TRIP])
        except Exception:
            self.metrics.failures.inc()
            raise
        self.metrics.superseded.inc(len(made) - len(wanted))
        self.metrics.update_duration.observe(time.perf_counter() - began)

    def _send(self, part: Sequence[SectionUpdate]) -> None:
        now = self._clock()
        pipe = self._client.pipeline(transaction=False)
        for change in part:
            fields = [text for pair in change.fields.items() for text in pair]
            # A format is asked about once, so it is kept for ten years, or until a person withdraws it.
            self._advance(
                keys=self._keys_of(change),
                args=[
                    change.section,
                    change.position,
                    int(10 * 366 * 86_400.0) if change.kind == "format" else self._keep_s,
                    self._keep_ended_s,
                    now,
                    change.name,
                    change.incarnation,
                    change.time,
                    *fields,
                ],
                client=pipe,
            )
        for index in (self._keys.jobs, self._keys.nodes, self._keys.clusters):
            pipe.zremrangebyscore(index, "-inf", now - self._keep_s)
        moved = sum(pipe.execute()[: len(part)])
        self.metrics.changes.inc(moved)
        self.metrics.late.inc(len(part) - moved)

    def _keys_of(self, change: SectionUpdate) -> list[str]:
        if change.kind == "node":
            return [self._keys.node(change.name), self._keys.nodes]
        if change.kind == "cluster":
            return [self._keys.cluster(change.name), self._keys.clusters]
        if change.kind == "format":
            return [self._keys.format(change.name), self._keys.formats]
        job, ranks = self._keys.job(change.name), self._keys.ranks(change.name)
        return [ranks if change.kind == "ranks" else job, self._keys.jobs, job, ranks]


def _newest(made: Iterable[SectionUpdate]) -> list[SectionUpdate]:
    """Return the changes without those that a later one of the same section replaces whole."""
    kept: list[SectionUpdate] = []
    newest: dict[tuple[str, str, str, str], SectionUpdate] = {}
    for change in made:
        if not change.newest_only:
            kept.append(change)
            continue
        section = (change.kind, change.name, change.incarnation, change.section)
        had = newest.get(section)
        if had is None or change.position > had.position:
            newest[section] = change
    return kept + list(newest.values())
