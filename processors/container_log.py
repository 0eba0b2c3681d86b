"""What a container runtime puts around the lines of a process in its log files, and how it is taken off again.

Two formats: Docker's logging driver `json-file` writes one JSON object per line. What implements the Container Runtime Interface
(containerd, CRI-O) writes a time, a stream, and `F` (full) or `P` (partial) before each line (Kubernetes, "CRI: Log Management"): a
long line is written in parts of 16 KB, all but the last of them partial.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

_CRI = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*) (std(?:out|err)) ([FP])(?: |$)")
_DOCKER = '{"log":'
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC).timestamp()
"""A node whose clock shows an earlier time has not set it yet."""
_PREFIX = 64
"""Characters within which a prefix of the Container Runtime Interface ends."""
_LONGEST = 32 * 1024
"""Characters of a line that is put together of its parts, as of any other piece of text."""
_CLOCK_SKEW_S = 86_400.0
"""How far a node's clock may be ahead. A job can print such lines itself, so their times are not trusted beyond this."""


class _DockerLine(msgspec.Struct):
    log: str
    time: str


def strip_container_wrapping(lines: Sequence[str], times: Sequence[float]) -> tuple[Sequence[str], Sequence[float]]:
    """Return the lines as the process printed them, and when it printed each; lines without a wrapping unchanged.

    All lines of a file have one format, so only the first and the last line are tested for it. A line whose parts follow one another
    stands whole where its first part stood, and its other parts are empty lines; a part that another chunk holds stays by itself.

    Args:
        lines: Lines of one log file, in order.
        times: Arrival time of each line, in seconds since 1970.
    """
    if not lines or not (_is_wrapped(lines[0]) or _is_wrapped(lines[-1])):
        return lines, times
    found = [_strip(line, time) for line, time in zip(lines, times, strict=True)]
    return _joined(lines, [line for line, _ in found]), [time for _, time in found]


def container_text(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines as the process printed them (see `strip_container_wrapping`), without times."""
    return strip_container_wrapping(lines, [0.0] * len(lines))[0]


def _is_wrapped(line: str) -> bool:
    return line.startswith(_DOCKER) or _CRI.match(line) is not None


def _joined(wrapped: Sequence[str], lines: list[str]) -> list[str]:
    """Put the parts of each long line where its first part stands, and nothing where its others stand."""
    if not any(" P " in line[:_PREFIX] for line in wrapped):
        return lines
    first, stream, parts, length = 0, "", [""], 0  # the line that goes on; a stream only while there is one
    for index, line in enumerate(wrapped):
        found = _CRI.match(line)
        if stream and (found is None or found[2] != stream or length + len(lines[index]) > _LONGEST):
            lines[first], stream = "".join(parts), ""
        if stream:
            parts.append(lines[index])
            length += len(lines[index])
            lines[index] = ""
        elif found and found[3] == "P":
            first, stream, parts, length = index, found[2], [lines[index]], len(lines[index])
        if stream and found and found[3] == "F":
            lines[first], stream = "".join(parts), ""
    if stream:
        lines[first] = "".join(parts)
    return lines


def _strip(line: str, arrived: float) -> tuple[str, float]:
    if found := _CRI.match(line):
        return line[found.end() :], _seconds(found[1], arrived)
    if not line.startswith(_DOCKER):
        return line, arrived
    try:
        wrapped = msgspec.json.decode(line, type=_DockerLine)
    except (msgspec.DecodeError, RecursionError):  # cut, nested too deeply, or another program's
        return line, arrived
    return wrapped.log.rstrip("\r\n"), _seconds(wrapped.time, arrived)


def _seconds(stamp: str, arrived: float) -> float:
    """Return `stamp` in seconds since 1970; `arrived` where it is no time, has no zone, or cannot be right."""
    try:
        wrote = datetime.fromisoformat(stamp)
        seconds = wrote.timestamp()
    except (ValueError, OverflowError):
        return arrived
    return seconds if wrote.tzinfo and _EARLIEST <= seconds <= arrived + _CLOCK_SKEW_S else arrived
