"""Acknowledged position of each file, on disk, so that a restarted collector continues there."""

import fcntl
import os
from pathlib import Path
from typing import Self

import msgspec

from schedmate_records import NOT_JSON, UserError

from ..resilience import replace_file


class InvalidCheckpoint(UserError, ValueError):
    """The checkpoint cannot be used; the message states what to do."""


class FilePosition(msgspec.Struct, frozen=True, kw_only=True):
    """The border in a log up to which the broker has everything.

    Attributes:
        device: Device of the file that was read last.
        inode: Its inode.
        owner: User id of the file's owner when it was taken; -1 where a release before this one wrote it.
        head: CRC-32 of its first `head_size` bytes: an inode number is given out again when its file is gone.
        head_size: At most 4096; at most 256 where a release before this one wrote it.
        read: Bytes of the file that were read, at least `offset`: a line may wait for its end.
        last: CRC-32 of the `last_size` bytes before `read`: the file may have been truncated and written anew.
        last_size: At most 4096.
        producer: Who numbers the pieces. It stays when a log is rotated, and changes when it is truncated.
        offset: Bytes of the file.
        line: Line number of the next piece.
        piece: Number of the next piece.
        seq: Number of the next chunk.
    """

    device: int
    inode: int
    owner: int = -1
    head: int = 0
    head_size: int = 0
    read: int = 0
    last: int = 0
    last_size: int = 0
    producer: str
    offset: int = 0
    line: int = 1
    piece: int = 1
    seq: int = 0


class _Content(msgspec.Struct):
    version: int
    logs: dict[str, FilePosition]
    finished: list[tuple[int, int]]


class CollectorCheckpoint:
    """A file with the places of all logs, by path, and the inodes of rotated files that were read to their end.

    Owned by one collector: a lock file next to it marks that.

    Args:
        path: The file; written anew and renamed, so that a crash leaves the old one or the new one.

    Raises:
        InvalidCheckpoint: It is not a checkpoint, or another collector uses it.
        OSError: It cannot be read, or its directory cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._content = _read(path)
            if path.exists():
                path.chmod(0o600)
        except BlockingIOError as error:
            os.close(self._lock)
            raise InvalidCheckpoint(
                f"{path} is used by another collector: stop it, or give this one a checkpoint of its own"
            ) from error
        except BaseException:
            os.close(self._lock)
            raise

    @property
    def logs(self) -> dict[str, FilePosition]:
        """The places, by path. To be changed freely; `save` writes them."""
        return self._content.logs

    @property
    def finished(self) -> list[tuple[int, int]]:
        """Device and inode of rotated files that were read to their end and still stand under some name."""
        return self._content.finished

    def save(self) -> None:
        """Write everything, so that it survives a power cut. Raises `OSError`; the old file then stays."""
        # It names files and users: for its owner alone.
        replace_file(self._path, msgspec.json.encode(self._content), mode=0o600)

    def close(self) -> None:
        """Let another collector use it."""
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _read(path: Path) -> _Content:
    try:
        content = msgspec.json.decode(path.read_bytes(), type=_Content)
    except FileNotFoundError:
        return _Content(1, {}, [])
    except NOT_JSON as error:
        raise InvalidCheckpoint(
            f"expected a collector's checkpoint in {path}, got something else ({error}): "
            "move it away to ship every file from its beginning again"
        ) from error
    if content.version != 1:
        raise InvalidCheckpoint(
            f"expected version 1 in {path}, got {content.version}: it was written by another release"
        )
    return content
