"""What producers of logs count."""

from dataclasses import dataclass


@dataclass(slots=True)
class ShippingCounters:
    """Numbers of one producer since its start."""

    pieces: int = 0
    """Pieces of text that were put into chunks."""
    lines: int = 0
    """Lines: pieces that ended with a newline."""
    bytes: int = 0
    """Bytes read from the job or its files."""
    chunks: int = 0
    """Chunks handed over for shipping."""
    acknowledged: int = 0
    """Messages that the broker has acknowledged."""
    spooled_chunks: int = 0
    """Chunks that went to disk."""
    spooled_bytes: int = 0
    """Bytes in spool files now."""
    lost_lines: int = 0
    """Lines given up because disk or memory was full."""
    sends_failed: int = 0
    """Sends, and attempts to connect, that failed."""
    broker_up: bool = False
    """1 now where the broker acknowledges what is sent."""
    files: int = 0
    """Files followed now (collector)."""
    files_refused: int = 0
    """Files that no job could be told for, or that could not be read (collector)."""
    files_untrusted: int = 0
    """Of these, files that may not speak for the job that their name tells, or that stand behind a link (collector)."""
