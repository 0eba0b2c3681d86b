"""A chunk of lines as the processors see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

from schedmate_records import Evidence, Position

CHUNK_LINES = 20
"""Lines of a chunk as the failure handler counts them (SchedMate §3.3)."""

QUOTE = 400
"""Characters of a line that evidence quotes."""

ERROR, WARNING, PROGRESS, OTHER = "ewpo"
"""The four classes of a line (SchedMate §3.2), as letters."""

_NO_PROGRESS = bytes(letter != ord(PROGRESS) for letter in range(256))


@dataclass(frozen=True)
class ClassifiedChunk:
    r"""Consecutive lines of one stream of one rank, with their classes.

    Attributes:
        job: The job.
        attempt: Restart count.
        node: Host; empty where not known.
        rank: Global rank.
        stream: `stdout` or `stderr`.
        position: Position of the chunk in the input.
        time: Arrival of the chunk's first line, or its own where it has none, in seconds since 1970.
        lines: Pieces of text; a redrawn one ends with `\r` (see `records.LogChunk`).
        numbers: Line number of each piece.
        times: Arrival of each piece, in seconds since 1970.
        classes: One letter a piece.
        templates: Each piece without its digits, as `classify.template` makes them: what follows from one is worked out once.
    """

    job: str
    attempt: int
    node: str
    rank: int
    stream: str
    position: Position
    time: float
    lines: Sequence[str]
    numbers: Sequence[int]
    times: Sequence[float]
    classes: str
    templates: Sequence[str]

    @property
    def newest(self) -> float:
        """Arrival of the last piece, in seconds since 1970."""
        return self.times[-1] if self.times else self.time

    @cached_property
    def without_progress(self) -> list[int]:
        """Places of the pieces that are no progress."""
        return list(compress(range(len(self.classes)), self.classes.encode().translate(_NO_PROGRESS)))

    @cached_property
    def distinct(self) -> dict[str, None]:
        """The templates, each once, in the order of their first pieces: fifty in a chunk of five hundred pieces."""
        return dict.fromkeys(self.templates)

    def evidence(self, index: int) -> Evidence:
        """Return piece `index` as evidence."""
        return Evidence(
            topic=self.position.topic,
            partition=self.position.partition,
            offset=self.position.offset,
            line=self.numbers[index],
            text=self.lines[index].strip("\r\n")[:QUOTE],
            rank=self.rank,
            stream=self.stream,
        )
