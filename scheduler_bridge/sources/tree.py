"""An untrusted source tree on disk.

Files outside of it, links, and files whose names usually mean secrets are not opened. The number of files and bytes is limited.
"""

import os
import posixpath
import stat
from pathlib import Path, PurePosixPath

from processors.advise.source_tree import ROOT

MOST_BYTES = 16 << 20
"""Bytes that are read for one job."""
LONGEST_FILE = 1 << 20
"""A longer file is data or generated."""
MOST_ENTRIES = 20_000
"""Directory entries that are listed for one job."""
DEEPEST = 12
"""Levels of directories that are listed."""

_SECRET_NAMES = {".env", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", "credentials", "kubeconfig"}
_SECRET_ENDINGS = (".pem", ".key", ".p12", ".pfx", ".jks", ".kdbx", ".asc", ".gpg")
_SECRET_PARTS = ("id_rsa", "id_ed25519", "id_ecdsa", "id_dsa", "secret", "password", "credential")
_SKIPPED = {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".ssh", ".aws", ".gnupg", ".kube"}


def is_secret(path: PurePosixPath) -> bool:
    """Return whether a file of this name is never opened or listed."""
    name = path.name.lower()
    return (
        name in _SECRET_NAMES
        or name.startswith(".env.")
        or name.endswith(_SECRET_ENDINGS)
        or (any(part in name for part in _SECRET_PARTS) and not name.endswith(".py"))
        or any(part in _SKIPPED for part in path.parts)
    )


class DirectoryTree:
    """Implements `SourceTree` for a directory.

    Raises:
        NotADirectoryError: `root` is no directory.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        given = posixpath.abspath(root)  # links above the tree are not resolved here
        self._roots = tuple(dict.fromkeys((str(self.root), given)))
        if not self.root.is_dir():
            raise NotADirectoryError(f"expected the directory of a source tree, got {root}")
        self._texts: dict[str, str | None] = {}
        self._bytes = 0
        self._listing: list[str] | None = None

    def relative(self, path: str, base: str = ".") -> str | None:
        """Return `path`, taken from the directory `base` of the tree, as a name in the tree; null outside of it."""
        if "\0" in path or len(path) > 1_000:
            return None
        if path == ROOT or path.startswith(f"{ROOT}/"):
            path, base = path.removeprefix(ROOT).lstrip("/"), "."
        joined = posixpath.normpath(posixpath.join(self.root, base, path))
        for root in self._roots:
            if joined == root:
                return "."
            if joined.startswith(f"{root.rstrip('/')}/"):
                return joined[len(root.rstrip("/")) + 1 :]
        return None

    def is_file(self, name: str | None) -> bool:
        """Return whether `name` is a regular file of the tree that may be opened."""
        return name is not None and self._kind(name) == stat.S_IFREG and not is_secret(PurePosixPath(name))

    def is_directory(self, name: str | None) -> bool:
        """Return whether `name` is a directory of the tree."""
        return name is not None and self._kind(name) == stat.S_IFDIR

    def read(self, name: str | None) -> str | None:
        """Return a file's text; null if it may not be read, or if a limit is reached."""
        if name is None:
            return None
        if name not in self._texts:
            self._texts[name] = self._read(name)
        return self._texts[name]

    def files(self) -> list[str]:
        """Return the names of files that may be opened, sorted; at most `MOST_ENTRIES` entries and `DEEPEST` levels are listed."""
        if self._listing is None:
            found: list[str] = []
            seen = 0
            for where, directories, names in os.walk(self.root, followlinks=False):
                below = PurePosixPath(where).relative_to(self.root)
                directories[:] = sorted(each for each in directories if each not in _SKIPPED)
                if len(below.parts) >= DEEPEST:
                    directories.clear()
                seen += len(directories) + len(names)
                found += [str(below / each) for each in sorted(names) if not is_secret(below / each)]
                if seen > MOST_ENTRIES:
                    break
            self._listing = found
        return self._listing

    def _kind(self, name: str) -> int:
        """Return the file type of `name`; 0 where any part of the path is a link or missing."""
        path, mode = self.root, stat.S_IFDIR
        for part in PurePosixPath(name).parts:
            if part == ".." or stat.S_IFMT(mode) != stat.S_IFDIR:
                return 0
            path = path / part
            try:
                mode = path.lstat().st_mode
            except OSError:
                return 0
        return stat.S_IFMT(mode)

    def _read(self, name: str) -> str | None:
        # Files that are opened for one job.
        if len(self._texts) >= 2_000 or not self.is_file(name):
            return None
        try:
            descriptor = os.open(self.root / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > min(LONGEST_FILE, MOST_BYTES - self._bytes):
                return None
            content = file.read(LONGEST_FILE)
        self._bytes += len(content)
        return None if b"\0" in content else content.decode("utf-8", errors="replace")
