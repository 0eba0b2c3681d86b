"""Lines that a container's runtime wrote into its log file: what the process printed, and when."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

_CRI = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*) std(?:out|err) [FP](?: |$)")
_DOCKER = '{"log":'
_FIRST = datetime(2000, 1, 1, tzinfo=UTC).timestamp()
_AHEAD = 86_400.0
"""Seconds by which a node's clock may be ahead: a job can print such lines itself, and its word must not date what follows from them."""


class _Docker(msgspec.Struct):
    log: str
    time: str


def unwrapped(lines: Sequence[str], times: Sequence[float]) -> tuple[Sequence[str], Sequence[float]]:
    """Return what processes printed, and when, of pieces that a container's runtime wrote down; others as they are.

    Two forms: objects of JSON, a line each, by Docker's driver `json-file`; a time, a stream and `F` or `P` before each line, by what
    speaks the Container Runtime Interface (containerd, CRI-O; Kubernetes, "CRI: Log Management"). All lines of a file have one form, so
    the first and the last one tell.
    """
    if not lines or not (_written(lines[0]) or _written(lines[-1])):
        return lines, times
    found = [_unwrap(line, time) for line, time in zip(lines, times, strict=True)]
    return [line for line, _ in found], [time for _, time in found]


def printed(lines: Sequence[str]) -> Sequence[str]:
    """Return what processes printed of pieces that a container's runtime wrote down (`unwrapped`), without the times."""
    return unwrapped(lines, [0.0] * len(lines))[0]


def _written(line: str) -> bool:
    return line.startswith(_DOCKER) or _CRI.match(line) is not None


def _unwrap(line: str, time: float) -> tuple[str, float]:
    if found := _CRI.match(line):
        return line[found.end() :], _seconds(found[1], time)
    if not line.startswith(_DOCKER):
        return line, time
    try:
        carried = msgspec.json.decode(line, type=_Docker)
    except (msgspec.DecodeError, RecursionError):  # cut, nested too deeply, or another program's
        return line, time
    return carried.log.rstrip("\r\n"), _seconds(carried.time, time)


def _seconds(stamp: str, arrived: float) -> float:
    """Return when a line was written, in seconds since 1970; when it arrived where `stamp` is none, or cannot be right."""
    try:
        wrote = datetime.fromisoformat(stamp)
        seconds = wrote.timestamp()
    except (ValueError, OverflowError):
        return arrived
    return seconds if wrote.tzinfo and _FIRST <= seconds <= arrived + _AHEAD else arrived
