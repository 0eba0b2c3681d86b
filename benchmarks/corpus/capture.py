"""Runs a program and keeps all that it prints, with the time at which each piece arrived."""

import gzip
import json
import os
import pty
import re
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = 1 << 16
_PIECES = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_PLAIN = 50_000
"""Bytes above which a log is stored compressed."""


@dataclass
class Captured:
    """Output of one run.

    Attributes:
        start: When it began, in seconds since 1970.
        code: Exit code; negative where a signal ended it.
        pieces: Text with its line break or carriage return, and when its end arrived, in seconds since `start`.
    """

    start: float
    code: int = 0
    pieces: list[tuple[bytes, float]] = field(default_factory=list)


def run(
    command: Sequence[str], environment: Mapping[str, str], directory: Path, limit: float, terminal: bool
) -> Captured:
    """Run `command` with both its outputs in one stream, as `2>&1 | tee` has them; end it and all its children after `limit` seconds."""
    ours, theirs = pty.openpty() if terminal else os.pipe()
    begun = Captured(time.time())
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=dict(environment),
        cwd=directory,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        begun.pieces = list(_pieces(_reads(ours, begun.start, limit, process)))
    finally:
        os.close(ours)
        if process.poll() is None:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
    begun.code = process.wait()
    return begun


def _reads(source: int, start: float, limit: float, process: subprocess.Popen[bytes]) -> Iterator[tuple[bytes, float]]:
    with selectors.DefaultSelector() as selector:
        selector.register(source, selectors.EVENT_READ)
        while (left := start + limit - time.time()) > 0:
            if not selector.select(min(left, 1.0)):
                if process.poll() is not None:
                    return  # a child that dismisses the program holds the stream open
                continue
            try:
                data = os.read(source, BLOCK)
            except OSError:  # a terminal whose last user has gone
                return
            if not data:
                return
            yield data, time.time() - start


def _pieces(reads: Iterator[tuple[bytes, float]]) -> Iterator[tuple[bytes, float]]:
    rest = b""
    for data, arrived in reads:
        found = _PIECES.findall(rest + data)
        rest = b"" if found and found[-1].endswith(b"\n") else found.pop() if found else b""
        for piece in found:
            yield piece, arrived
        last = arrived
    if rest:
        yield rest, last


def write(folder: Path, captured: Captured) -> None:
    """Write the log and, beside it, how many bytes arrived when."""
    for old in folder.glob("log.txt*"):
        old.unlink()
    text = b"".join(piece for piece, _ in captured.pieces)
    if len(text) > _PLAIN:
        (folder / "log.txt.gz").write_bytes(gzip.compress(text, mtime=0))
    else:
        (folder / "log.txt").write_bytes(text)
    milliseconds = [round(arrived * 1000) for _, arrived in captured.pieces]
    arrival = {
        "start": round(captured.start, 3),
        "bytes": [len(piece) for piece, _ in captured.pieces],
        "after_ms": [later - earlier for earlier, later in zip([0, *milliseconds], milliseconds, strict=False)],
    }
    (folder / "arrival.json.gz").write_bytes(
        gzip.compress(json.dumps(arrival, separators=(",", ":")).encode(), mtime=0)
    )


def read(folder: Path) -> Captured:
    """Return what `write` wrote."""
    plain = folder / "log.txt"
    text = plain.read_bytes() if plain.exists() else gzip.decompress((folder / "log.txt.gz").read_bytes())
    arrival = json.loads(gzip.decompress((folder / "arrival.json.gz").read_bytes()))
    captured = Captured(arrival["start"])
    at, arrived = 0, 0
    for size, delta in zip(arrival["bytes"], arrival["after_ms"], strict=True):
        arrived += delta
        captured.pieces.append((text[at : at + size], arrived / 1000))
        at += size
    return captured
