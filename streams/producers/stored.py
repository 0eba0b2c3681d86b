"""Reads a log as chunks: a stored one of any size (plain, gz, zst, or standard input), or a growing one."""

import gzip
import os
import select
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import FileIO
from pathlib import Path
from typing import IO, BinaryIO, cast

import msgspec
from backports import zstd

from schedmate_records import LogChunk, UserError, in_words

from .chunker import SHIPPED, Chunker, ChunkLimits
from .pieces import START, Mark, PieceSplitter

BLOCK = 1 << 20
"""Bytes of one read: more makes reading no faster, and less shows progress no better."""
STANDARD_INPUT = Path("-")
GZIP, ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


class UnreadableLog(UserError):
    """A log that cannot be read; the message states what was expected and what came."""


def read_chunks(path: Path, progress: Callable[[int], None] | None = None) -> Iterator[LogChunk]:
    """Yield the chunks of the log at `path` (`-`: standard input), of any size, in bounded memory.

    All lines arrive at the file's own time (0 for standard input): a stored log holds no arrival times. `progress` is called with the
    bytes read so far, before decompression.

    Raises:
        UnreadableLog: No such file, no permission, or broken compression.
    """
    splitter, chunker, arrived = PieceSplitter(), chunker_of(path), 0.0
    try:
        with _open(path) as (raw, stream):
            arrived = 0.0 if path == STANDARD_INPUT else path.stat().st_mtime
            while block := stream.read(BLOCK):
                for ready in chunker.add(splitter.feed(block, arrived), 0.0):
                    yield ready.record
                if progress:
                    progress(raw.tell() if raw.seekable() else 0)
    except (OSError, EOFError, zlib.error, zstd.ZstdError) as error:
        raise _unreadable(path, error) from error
    for ready in [*chunker.add(splitter.finish(arrived), 0.0), *chunker.flush()]:
        yield ready.record


FOLLOWED = ChunkLimits(silence=2.0)
"""Chunk limits of a log that a person watches. Reports may wait for more until a silence; a person waits less long than a worker."""


def follow_chunks(
    path: Path, stop: Callable[[], bool], seconds: float = 0.2, clock: Callable[[], float] = time.time
) -> Iterator[LogChunk]:
    """Yield the chunks of the log at `path` as it grows, until `stop` is set, or a pipe or standard input ends.

    It is looked at every `seconds`; lines have the time at which they were read.

    Raises:
        UnreadableLog: No such file, or no permission.
    """
    splitter, chunker = PieceSplitter(), chunker_of(path, limits=FOLLOWED)
    try:
        with _follow(path) as stream:
            ends = path == STANDARD_INPUT or not stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
            while not stop():
                # What a pipe has brought is due even while its writer is silent.
                waiting = ends and not select.select([stream], [], [], seconds)[0]
                block = None if waiting else stream.read(BLOCK)
                pieces = splitter.feed(block or b"", clock())
                for ready in chunker.add(pieces, time.monotonic()) + chunker.due(time.monotonic()):
                    yield ready.record
                if block == b"":
                    if ends:
                        break
                    time.sleep(seconds)
    except OSError as error:
        raise _unreadable(path, error) from error
    for ready in [*chunker.add(splitter.finish(clock()), time.monotonic()), *chunker.flush()]:
        yield ready.record


def _unreadable(path: Path, error: Exception) -> UnreadableLog:
    remedy = f"; name the files in it: {path / '*'}" if isinstance(error, IsADirectoryError) else ""
    return UnreadableLog(f"expected a readable log at {path}: {in_words(error)}{remedy}")


def template(path: Path) -> LogChunk:
    """Return an empty chunk of the job that a log at `path` is taken for: one of the file's name."""
    job = "stdin" if path == STANDARD_INPUT else path.name
    return LogChunk(job=job, producer=str(path), lines=[], time=0.0)


def chunker_of(path: Path, start: Mark = START, limits: ChunkLimits = SHIPPED) -> Chunker[LogChunk]:
    """Return what makes the chunks of the log at `path`, from `start` on."""
    return Chunker(partial(msgspec.structs.replace, template(path)), start=start, limits=limits)


def _follow(path: Path) -> FileIO:
    """Open a log whose every read returns what is there; a named pipe without waiting for who writes to it."""
    if path == STANDARD_INPUT:
        return FileIO(sys.stdin.fileno(), closefd=False)
    return FileIO(path, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))


@contextmanager
def _open(path: Path) -> Iterator[tuple[BinaryIO, IO[bytes]]]:
    """Open a log as (the file as it lies there, its decompressed bytes)."""
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer, sys.stdin.buffer
        return
    with path.open("rb") as raw:
        start = raw.peek(4)[:4]
        if start[:2] == GZIP:
            with gzip.GzipFile(fileobj=raw) as plain:
                yield raw, cast("IO[bytes]", plain)
        elif start == ZSTANDARD:
            with zstd.ZstdFile(raw) as plain:
                yield raw, cast("IO[bytes]", plain)
        else:
            yield raw, raw
