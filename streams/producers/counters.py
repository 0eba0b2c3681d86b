"""What producers of logs count."""

from dataclasses import dataclass


@dataclass(slots=True)
class ShippingCounters:
    """Numbers of one producer since its start.

    Attributes:
        pieces: Pieces of text that were put into chunks.
        lines: Lines: pieces that ended with a newline.
        bytes: Bytes read from the job or its files.
        chunks: Chunks handed over for shipping.
        acknowledged: Messages that the broker has acknowledged.
        spooled_chunks: Chunks that went to disk.
        spooled_bytes: Bytes in spool files now.
        lost_lines: Lines given up because disk or memory was full.
        sends_failed: Sends, and attempts to connect, that failed.
        broker_up: 1 now where the broker acknowledges what is sent.
        files: Files followed now (collector).
        files_refused: Files that no job could be told for, or that could not be read (collector).
    """

    pieces: int = 0
    lines: int = 0
    bytes: int = 0
    chunks: int = 0
    acknowledged: int = 0
    spooled_chunks: int = 0
    spooled_bytes: int = 0
    lost_lines: int = 0
    sends_failed: int = 0
    broker_up: bool = False
    files: int = 0
    files_refused: int = 0
