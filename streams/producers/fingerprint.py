"""Recognises a file that was read before by its content: other content may have been written into the same file."""

import os
import zlib

from .checkpoint import FilePosition

HEAD = 4096
"""Bytes at a file's beginning that are compared: more than the banner that every run of a program prints."""
LAST = 4096
"""Bytes before the end of what was read that are compared. Two runs of one program may begin with the same lines and differ only there."""


class Fingerprint:
    """Checksum of the content of a file up to `end`.

    Args:
        file: The file; its content up to `end` is taken for known.
        end: Bytes that were read.

    Attributes:
        end: Bytes that were read.
        last: The last of these bytes.
    """

    def __init__(self, file: int, end: int) -> None:
        self.end = end
        self._head, self._head_size = read_head(file, end)
        self.last = os.pread(file, min(LAST, end), end - min(LAST, end))

    def extend(self, data: bytes) -> None:
        """Include `data`, which was read behind the end."""
        missing = data[: HEAD - self._head_size]
        self._head, self._head_size = zlib.crc32(missing, self._head), self._head_size + len(missing)
        self.last = (self.last + data[-LAST:])[-LAST:]
        self.end += len(data)

    def extend_hole(self, size: int) -> None:
        """Include `size` NUL bytes."""
        self.extend(bytes(min(size, HEAD + LAST)))
        self.end += size - min(size, HEAD + LAST)

    def has_head_of(self, file: int) -> bool:
        """Return whether `file` begins as the file did that was read."""
        return read_head(file, self._head_size) == (self._head, self._head_size)

    def added_to(self, place: FilePosition) -> FilePosition:
        """Return `place` with this fingerprint."""
        return FilePosition(
            device=place.device,
            inode=place.inode,
            owner=place.owner,
            head=self._head,
            head_size=self._head_size,
            read=self.end,
            last=zlib.crc32(self.last),
            last_size=len(self.last),
            producer=place.producer,
            offset=place.offset,
            line=place.line,
            piece=place.piece,
            seq=place.seq,
        )


def read_head(file: int, limit: int) -> tuple[int, int]:
    """Return the CRC-32 of the first bytes, at most `HEAD` and at most `limit`, and their number."""
    head = os.pread(file, min(HEAD, limit), 0)
    return zlib.crc32(head), len(head)


def continues(file: int, place: FilePosition) -> bool:
    """Return whether `file` is the file of `place`, with the same content as far as it was read.

    Another file may have got its inode number, or other content may have been written into it.
    """
    status = os.fstat(file)
    return (
        (status.st_dev, status.st_ino) == (place.device, place.inode)
        and status.st_size >= max(place.offset, place.read)
        and read_head(file, place.head_size) == (place.head, place.head_size)
        and zlib.crc32(os.pread(file, place.last_size, place.read - place.last_size)) == place.last
    )
