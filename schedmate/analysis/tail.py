"""The verdict and progress of a long stored log from its end alone, where the end decides.

A candidate after which the job prints several progress lines was not the end of it. So the verdict of the handler at a log's end depends on
nothing before the last quiet stretch: progress, and no line that a signature, a traceback or its class calls a failure. The medians depend
on the newest reports only. So blocks are read backwards from the end, each four times the one before, until one begins quietly and
holds all reports that the numbers rest on; the processors then run over that block as they would over the whole. Where no block up to
half of the file is like that, there is no verdict, and the log is read from its start.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from processors.classified_chunk import CHUNK_LINES, PROGRESS
from processors.classify.context import ClassifyContext
from processors.diagnose.line_reader import mentions_nan
from processors.diagnose.stage import Diagnosis
from processors.job import JobProcessor
from processors.new_lines import container_text
from processors.state import JobState
from processors.track.state import TrackState
from processors.track.tracker import REPORTS
from schedmate_records import LogChunk, Position
from streams.producers.pieces import Mark, PieceSplitter
from streams.producers.stored import GZIP, STANDARD_INPUT, ZSTANDARD, chunker_of

COUNTING = 8 << 20
"""Bytes of one read where only newlines are counted."""

_NUMBERS_ALONE = re.compile(r"(?=\D*+\d)[^A-Za-z]++")


@dataclass(frozen=True)
class LogTail:
    """The end of a log that decides.

    Attributes:
        chunks: What to run the processors over.
        chunks_read: Chunks of 20 lines that were read in the search, these included.
    """

    chunks: list[LogChunk]
    chunks_read: int


def find_tail(
    path: Path, processor: JobProcessor, reports: int = REPORTS, long: int = 4 << 20, block: int = 256 << 10
) -> LogTail | None:
    """Return the end of the log at `path` that decides; None where it is short, compressed, or must be read whole.

    Args:
        path: A plain file.
        processor: What is to read the log; it does, once, on each block tried.
        reports: Newest reports that its numbers rest on.
        long: Bytes below which nothing is tried.
        block: Bytes of the first block.
    """
    if path == STANDARD_INPUT or not path.is_file() or path.stat().st_size < long:
        return None
    read = 0
    with path.open("rb") as stream:
        size, head = path.stat().st_size, stream.read(4)
        # A log of MLPerf's events states at its head what one of them counts, so it is read completely.
        if head == ZSTANDARD or head[:2] == GZIP or b":::MLL" in head + stream.read(256 << 10):
            return None
        while block <= size // 2:
            stream.seek(size - block)
            start = size - block + len(stream.readline())
            data = stream.read(size - start)
            chunks = _chunks(path, data, Mark(start, 1, 1))
            read += -(-sum(len(chunk.lines) for chunk in chunks) // CHUNK_LINES)
            if _begins_quietly(chunks, processor) and _is_known(_track(chunks, processor), reports, stream, start):
                first = 1 + sum(block.count(b"\n") for block in _blocks(stream, start))
                return LogTail(_chunks(path, data, Mark(start, first, first)), read)
            # All blocks together are read in a third more than the last one alone takes.
            block *= 4
    return None


def _chunks(path: Path, data: bytes, start: Mark) -> list[LogChunk]:
    """Return the chunks of `data`, which ends the log at `path`."""
    splitter, chunker = PieceSplitter(start), chunker_of(path, start)
    arrived = path.stat().st_mtime
    ready = chunker.add(splitter.feed(data, arrived), 0.0) + chunker.add(splitter.finish(arrived), 0.0)
    return [each.record for each in ready + chunker.flush()]


def _begins_quietly(chunks: Sequence[LogChunk], processor: JobProcessor) -> bool:
    """Return whether nothing before `chunks` can matter for the verdict: a quiet stretch comes before any sign of failure."""
    lines = [line for chunk in chunks for line in container_text(chunk.lines)]
    if mentions_nan("\n".join(lines)):
        return False
    classes = processor.reader.classifier.classify(lines, ClassifyContext())
    quiet = progress = 0
    for start in range(CHUNK_LINES, len(lines), CHUNK_LINES):  # the first lines lack what came before them
        part, letters = lines[start : start + CHUNK_LINES], classes[start : start + CHUNK_LINES]
        calm = processor.stage(Diagnosis).handler.is_quiet(part, letters)
        quiet, progress = (quiet + 1, progress + letters.count(PROGRESS)) if calm else (0, 0)
        # Three chunks of 20 lines without a sign of failure: more lines than an open traceback waits for. Five of them report
        # progress: the job was at work, and not just silent.
        if quiet >= 3 and progress >= 5:
            return True
    return False


def _track(chunks: Sequence[LogChunk], processor: JobProcessor) -> TrackState | None:
    """Return what the tracker knows after `chunks`; None where they hold rows of a table, which its header explains."""
    if any(_NUMBERS_ALONE.fullmatch(line) for chunk in chunks for line in container_text(chunk.lines)):
        return None
    state = JobState(job="")
    for offset, chunk in enumerate(chunks):
        processor.process(state, Position("", 0, offset), chunk)
    return next(state.sources()).track


def _is_known(track: TrackState | None, reports: int, stream: BinaryIO, start: int) -> bool:
    """Return whether the numbers rest on what is in `track` alone: as many reports as wanted, and the newest loss."""
    if track is None or not track.named or track.header or len(track.window) < reports:
        return False
    return track.loss is not None or not _mentions_loss(stream, start)


def _blocks(stream: BinaryIO, end: int) -> Iterator[bytes]:
    stream.seek(0)
    for offset in range(0, end, COUNTING):
        yield stream.read(min(COUNTING, end - offset))


def _mentions_loss(stream: BinaryIO, end: int) -> bool:
    return any(b"oss" in block or b"LOSS" in block for block in _blocks(stream, end))
