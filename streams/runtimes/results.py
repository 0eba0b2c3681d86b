"""Results that an engine returns to its runtime."""

import time
from dataclasses import dataclass, field

from ..spans import Span
from ..transport import Outgoing
from .order import Run


@dataclass
class Results:
    """Results of a batch, in stages: each is acknowledged before the next one is written.

    Attributes:
        limits: What a worker after this one must know of refused keys (`new_keys.py`).
        records: What was made of the input.
        states: States without their parts.
        parts: Parts of states, and deletions.
        markers: From where input must be read again.
        began: When work on the batch began, on the monotonic clock.
        arrivals: When the last line of a chunk arrived, in seconds since 1970: of each key the chunk that waits longest.
        explained: When the root line of each first verdict arrived, in seconds since 1970.
        spans: What traces will hold of it.
    """

    limits: list[Outgoing] = field(default_factory=list)
    records: list[Outgoing] = field(default_factory=list)
    states: list[Outgoing] = field(default_factory=list)
    parts: list[Outgoing] = field(default_factory=list)
    markers: list[Outgoing] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)
    arrivals: list[float] = field(default_factory=list)
    explained: list[float] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)

    @property
    def stages(self) -> list[list[Outgoing]]:
        """Records to write, stage by stage."""
        return [stage for stage in (self.limits, self.records, self.states, self.parts, self.markers) if stage]


@dataclass(frozen=True)
class Restored:
    """Tasks of a runtime before it handles a partition: write `writes`, then read `replay` (begin and end by topic) once more.

    Attributes:
        states: States held.
        suspect: By topic the end of the input at which workers before may have died; empty where none did.
        committed: Next offset of each topic.
        writes: To be written first: from where this worker begins, and tombstones for what is no longer needed.
        replay: To be read once more.
        planned: To be handled again, in this order, before anything else.
    """

    states: int
    suspect: dict[str, int]
    committed: dict[str, int]
    writes: list[Outgoing]
    replay: dict[str, tuple[int, int]]
    planned: list[Run]
