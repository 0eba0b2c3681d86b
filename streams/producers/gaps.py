"""Runs of NUL bytes in a log: holes that no program printed.

A program that writes at an offset of its own, into a file that was truncated meanwhile, leaves a hole up to that offset. Readers get NUL
bytes for it. Runs of them are passed over.
"""

import errno
import os
import re
from collections.abc import Iterator

SHORTEST = 16
"""NUL bytes that make a gap. Programs print single ones (`find -print0`)."""

_RUN = re.compile(rb"\x00{%d,}" % SHORTEST)
_NUL = b"\x00"


def split_gaps(data: bytes, *, after_gap: bool, at_end: bool) -> Iterator[bytes | int]:
    """Yield text, and the size of each gap, as far as `data` decides where these end.

    NUL bytes at the end of `data` are left out where the bytes after them decide: they are to be read again. So the result
    depends on the file's bytes alone, and not on how they were cut into reads.

    Args:
        data: Bytes of the file.
        after_gap: Whether a gap, or the beginning of the file, is right before them. It goes on with any number of NUL bytes.
        at_end: Whether the file ends behind them. What is written there later may be text in place of the NUL bytes.
    """
    text = data.rstrip(_NUL)
    run = len(data) - len(text)
    if at_end or (run < SHORTEST and not (after_gap and not text)):
        data = text
    start = 0
    if after_gap and (size := len(data) - len(data.lstrip(_NUL))):
        yield size
        start = size
    for found in _RUN.finditer(data, start):
        if found.start() > start:
            yield data[start : found.start()]
        yield found.end() - found.start()
        start = found.end()
    if start < len(data):
        yield data[start:]


def next_data(file: int, offset: int) -> int | None:
    """Return where the file holds data again, at or after `offset`. None where all the rest of it is a hole.

    File systems that know no holes return `offset`.
    """
    try:
        return os.lseek(file, offset, os.SEEK_DATA)
    except OSError as error:
        return None if error.errno == errno.ENXIO else offset
