"""What launchers and container runtimes put around each line changes nothing in what a real log says."""

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

import msgspec
import pytest

from benchmarks.corpus.plan import LOGS
from benchmarks.corpus.score import stream_chunks
from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import JobMetric, LogChunk, Position

Wrap = Callable[[str, float], str]


def ranked(line: str, _: float) -> str:
    return f"[rank0]: {line}"


def docker(line: str, time: float) -> str:
    """The `json-file` driver of Docker."""
    stamp = datetime.fromtimestamp(time, UTC).isoformat().replace("+00:00", "Z")
    return json.dumps({"log": line + "\n", "stream": "stdout", "time": stamp}, separators=(",", ":"))


def containerd(line: str, time: float) -> str:
    """The Container Runtime Interface, as Kubernetes keeps it."""
    return f"{datetime.fromtimestamp(time, UTC).isoformat().replace('+00:00', 'Z')} stdout F {line}"


def wrapped(chunks: Iterable[LogChunk], wrap: Wrap) -> Iterator[LogChunk]:
    for chunk in chunks:
        after = chunk.after_ms or [0] * len(chunk.lines)
        lines = [wrap(line, chunk.time + ms / 1000) for line, ms in zip(chunk.lines, after, strict=True)]
        yield msgspec.structs.replace(chunk, lines=lines)


def numbers(chunks: Iterable[LogChunk]) -> tuple[float | None, ...]:
    processor, state, newest = JobProcessor(), JobState(job="j"), None
    for offset, chunk in enumerate(chunks):
        for record in processor.process(state, Position("job-logs", 0, offset), chunk):
            newest = record if isinstance(record, JobMetric) else newest
    if newest is None:
        return (None,) * 5
    return newest.step, newest.epoch, newest.loss, newest.step_time_s, newest.throughput


def same(plain: float | None, found: float | None) -> bool:
    return plain == found or (plain is not None and found is not None and abs(plain - found) <= 0.02 * abs(plain))


Said = tuple[str, list[LogChunk], tuple[float | None, ...]]


@pytest.fixture(scope="module")
def logs() -> list[Said]:
    """One log of each framework, and what it says as it is."""
    found = []
    for framework in LOGS.iterdir():
        folder = min(framework.iterdir())
        chunks = list(stream_chunks(folder))
        if any(line.endswith("\r") for chunk in chunks for line in chunk.lines):
            continue  # a bar that is drawn again in one line has one prefix for all drawings
        found.append((str(folder.relative_to(LOGS)), chunks, numbers(chunks)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("wrap", [ranked, docker, containerd])
def test_every_real_log_says_the_same(logs: list[Said], wrap: Wrap) -> None:
    other = {}
    for name, chunks, plain in logs:
        found = numbers(wrapped(chunks, wrap))
        if not all(same(*each) for each in zip(plain, found, strict=True)):
            other[name] = plain, found
    assert len(logs) > 40
    assert not other
