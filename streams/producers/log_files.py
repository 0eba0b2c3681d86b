"""Finds and opens files in directories that untrusted users may write."""

import glob
import os
import stat
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_PLACE = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


class RefusedFile(Exception):
    """A file that is not read; the message states what was expected and what came."""


@dataclass(frozen=True, slots=True)
class OpenedLog:
    """A file that may be read.

    Attributes:
        file: Its descriptor, which does not block.
        status: What it is, and whose.
        private: True where only root and the user of this process can have chosen its name: every directory on the way is theirs, and
            no other user may rename files there.
    """

    file: int
    status: os.stat_result
    private: bool


def open_log(path: str, kind: Callable[[int], bool] = stat.S_ISREG) -> OpenedLog:
    """Open `path`, one component after the other, so that what is checked is what is opened.

    A symbolic link is followed where root or the user of this process made it in a directory of theirs. One that somebody else made, or
    may have put there, is followed to a directory, and then only where the file at the end belongs to the same user. A file of several
    names is refused where its directory is another user's, or anybody's: the name may have been made by another user.

    Args:
        path: The file.
        kind: What it must be, as a test of `st_mode`.

    Raises:
        RefusedFile: It is not of that kind, or the way there cannot be trusted.
        OSError: It is not there, or may not be read.
    """
    walk = _walk(path)
    try:
        if not kind(walk.status.st_mode):
            raise RefusedFile(f"expected a regular file, got {_kind(walk.status.st_mode)}")
        user, directory = walk.status.st_uid, walk.directory
        if walk.answerable - {user}:
            raise RefusedFile("expected a file of the user who made the symbolic link on the way, got another user's")
        theirs = directory.st_uid in {0, os.geteuid(), user} and not directory.st_mode & stat.S_IWOTH
        if walk.status.st_nlink > 1 and not theirs:
            raise RefusedFile("expected a file of one name, got a hard link in a directory that others may write")
        # Opened through the place that was checked. Anything but a file was not opened at all: that alone may have effects.
        file = os.open(f"/proc/self/fd/{walk.place}", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    finally:
        os.close(walk.place)
    return OpenedLog(file, walk.status, walk.private)


@dataclass(slots=True)
class _Walk:
    """Result of following a path.

    Attributes:
        place: A descriptor of what was found there, without having opened it.
        status: What it is.
        directory: The directory that holds it.
        private: See `OpenedLog`.
        answerable: Users who chose where a symbolic link on the way led.
    """

    place: int
    status: os.stat_result
    directory: os.stat_result
    private: bool = True
    answerable: set[int] = field(default_factory=set)


def _walk(path: str) -> _Walk:
    here = os.open("/" if path.startswith("/") else ".", _PLACE)
    root = os.fstat(here)
    walk = _Walk(here, root, root)
    names, links = _parts(path), 0
    while names:
        try:
            place = os.open(names.popleft(), _PLACE, dir_fd=walk.place)
        except OSError:
            os.close(walk.place)
            raise
        status, directory = os.fstat(place), walk.status
        safe = directory.st_uid in {0, os.geteuid()} and not _anybody_may_rename(directory)
        walk.private = walk.private and safe
        if not stat.S_ISLNK(status.st_mode):
            os.close(walk.place)
            walk.place, walk.status, walk.directory = place, status, directory
            continue
        links += 1
        target = os.readlink("", dir_fd=place)
        os.close(place)
        if status.st_uid not in {0, os.geteuid()} or not safe:
            walk.answerable.add(directory.st_uid if status.st_uid in {0, os.geteuid()} else status.st_uid)
        # Follow 40 symbolic links at most, as the kernel does.
        if links > 40 or (not names and walk.answerable):
            os.close(walk.place)
            raise RefusedFile("expected a file, got a symbolic link that a user may have pointed anywhere")
        names.extendleft(reversed(_parts(target)))
        if target.startswith("/"):
            os.close(walk.place)
            walk.place = os.open("/", _PLACE)
            walk.status = os.fstat(walk.place)
    return walk


def search(pattern: str) -> Iterator[str]:
    """Yield the paths that fit `pattern`. `**` goes through directories, and not through symbolic links to directories."""
    before, found, after = pattern.partition("**")
    if not found:
        yield from glob.iglob(pattern)  # noqa: PTH207  (thousands of paths, every second)
        return
    seen: set[str] = set()
    for base in glob.iglob(before or "."):  # noqa: PTH207
        for directory, _, _ in os.walk(base):
            here = glob.escape(os.path.join(directory, ""))  # noqa: PTH118
            for path in search(here + (after.lstrip("/") or "*")):
                if path not in seen:
                    seen.add(path)
                    yield path


def _parts(path: str) -> deque[str]:
    return deque(part for part in path.split("/") if part not in ("", "."))


def _anybody_may_rename(directory: os.stat_result) -> bool:
    return bool(directory.st_mode & stat.S_IWOTH) and not directory.st_mode & stat.S_ISVTX


def _kind(mode: int) -> str:
    kinds = {
        stat.S_ISDIR: "a directory",
        stat.S_ISFIFO: "a named pipe",
        stat.S_ISSOCK: "a socket",
        stat.S_ISCHR: "a device",
        stat.S_ISBLK: "a device",
        stat.S_ISREG: "a regular file",
    }
    return next((name for test, name in kinds.items() if test(mode)), "something else")
