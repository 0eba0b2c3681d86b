"""Settings of a collector."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from schedmate_records import LogChunk

from .chunker import ChunkLimits
from .file_trust import FileTrust
from .spool import SpoolSettings


class OwnedLogs(Protocol):
    """Log files of which something other than the path names the job."""

    def found(self) -> Mapping[str, LogChunk]:
        """Return an empty chunk of the job for each file."""

    def close(self) -> None:
        """Stop looking for files."""


@dataclass(frozen=True)
class CollectorSettings:
    """Settings of a collector.

    Attributes:
        globs: Files of jobs; `**` goes through directories.
        pattern: Finds the job in the path (see `paths`).
        node_globs: A node's kernel and system logs. They are read from their present end on when first seen at the start: last week's
            lines are no evidence today. `/dev/kmsg` has its own times: it is read from its beginning. `journal` is systemd's.
        pods: The logs of pods on this node. None: leave them alone.
        node: This host.
        checkpoint: File that remembers how far everything is acknowledged.
        trust: Which users' files may report for a job.
        socket: Where pipes without a Kafka client hand over what they have (`pipe_intake`). None: nowhere.
        spool: Where pipes leave what they could not send; the collector sends it. None: leave it alone.
        ignore_older_s: Files of jobs that were last written so many seconds before they are first seen are left out. None: take all.
        poll_s: Seconds between two looks at files that are being written.
        search_s: Seconds between two searches for files.
        close_timeout: Seconds to wait for acknowledgements at the end.
        memory: Bytes in flight.
        limits: When a chunk is closed.
    """

    globs: Sequence[str]
    pattern: str
    node: str
    checkpoint: Path
    node_globs: Sequence[str] = ()
    pods: OwnedLogs | None = None
    trust: FileTrust = field(default_factory=FileTrust)
    socket: Path | None = None
    spool: SpoolSettings | None = None
    ignore_older_s: float | None = None
    poll_s: float = 0.2
    search_s: float = 1.0
    close_timeout: float = 5.0
    memory: int = 32 << 20
    limits: ChunkLimits = field(default_factory=ChunkLimits)
