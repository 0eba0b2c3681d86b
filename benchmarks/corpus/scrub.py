"""Takes names of hosts, people and paths, and links to packages out of what a run printed."""

import getpass
import re
import socket
from collections.abc import Iterable
from pathlib import Path

HOST, USER = b"node01", b"user"
_ADDRESS = re.compile(rb"(?<![\d.])(?!127\.0\.0\.1|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?=:\d|/|\b(?!\.\d))")
_MAIL = re.compile(rb"[\w.+-]+@[\w-]+\.[a-z]{2,}\b")
_PACKAGE = re.compile(rb"(?<=https://)[\w.-]+(?=/project/)")
_TEMPORARY = re.compile(rb"/(?:var/)?tmp/[\w.-]+")


class Scrubber:
    """Replaces what tells where and by whom a run was made.

    Args:
        paths: Directories with what stands for them; the longest match wins.
        host: Name of this machine.
        user: Name of this user.
    """

    def __init__(self, paths: dict[Path, str], host: str | None = None, user: str | None = None) -> None:
        ordered = sorted(paths.items(), key=lambda entry: -len(str(entry[0])))
        self._fixed = [(str(path).encode(), name.encode()) for path, name in ordered]
        host = socket.gethostname() if host is None else host
        user = getpass.getuser() if user is None else user
        self._names = [
            (re.compile(rb"(?<![\w.-])" + re.escape(name.encode()) + rb"(?![\w-])"), stands)
            for name, stands in ((host, HOST), (user, USER))
            if name and name != "root"  # which names no one, and is a logger's name too
        ]

    def scrub(self, piece: bytes) -> bytes:
        """Return `piece` without such names."""
        for path, name in self._fixed:
            piece = piece.replace(path, name)
        for pattern, stands in self._names:
            piece = pattern.sub(stands, piece)
        piece = _TEMPORARY.sub(b"/tmp/run", piece)
        piece = _MAIL.sub(b"user@example.org", piece)
        piece = _PACKAGE.sub(b"pkg.test", piece)
        return _ADDRESS.sub(_address, piece)

    def scrub_all(self, pieces: Iterable[tuple[bytes, float]]) -> list[tuple[bytes, float]]:
        """Return pieces of text, each with its time, without such names."""
        return [(self.scrub(piece), arrived) for piece, arrived in pieces]


def _address(found: re.Match[bytes]) -> bytes:
    """Return another address, but leave alone what only looks like one (a version of four numbers)."""
    parts = found[0].split(b".")
    private = parts[0] in (b"10", b"192", b"172", b"169", b"100")
    return b"10.0.0.1" if private else found[0]
