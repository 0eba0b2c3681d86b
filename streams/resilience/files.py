"""Replacing a file in one step."""

import os
from pathlib import Path


def replace_file(path: Path, content: bytes, *, mode: int = 0o600) -> None:
    """Put `content` in the place of what `path` holds; a crash or power cut leaves the old file or the new one, whole.

    The content is forced to the disk before the file takes the old one's place, and the directory's entry after it.

    Args:
        path: The file; its directory must exist. A file of the same name with the suffix `.new` belongs to this function.
        content: What it is to hold.
        mode: Its permissions, whatever the umask or an earlier file had.

    Raises:
        OSError: It cannot be written; the old file stays.
    """
    new = path.with_name(path.name + ".new")
    # No link that somebody else left in this place is followed.
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with open(descriptor, "wb") as out:  # noqa: PTH123  a Path cannot open a descriptor
        os.fchmod(descriptor, mode)
        out.write(content)
        out.flush()
        os.fsync(descriptor)
    new.replace(path)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
