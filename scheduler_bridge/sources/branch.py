"""The Git branch of a directory, from `.git/HEAD`. Git is not run."""

import os
import stat
from pathlib import Path

from schedmate_records.bounds import NAME


def branch_of(directory: Path) -> str:
    """Return the branch of the working tree of `directory`; empty if there is none, or if its name is too long for a record.

    Looks for `.git/HEAD` in the directory and above it, as Git does, and opens nothing else. Linked working trees are not followed.
    """
    if not directory.is_absolute():
        return ""
    # Directories that are searched, upwards from the job's own. A limit against very deep paths.
    for level in (directory, *directory.parents)[:16]:
        try:
            if stat.S_ISDIR((level / ".git").lstat().st_mode):
                return _branch(_head(level / ".git" / "HEAD"))
        except OSError:
            continue
    return ""


def _head(path: Path) -> str:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        # Bytes read of a file of Git. A limit against large files in its place; a branch and its prefix are shorter.
        return file.read(1024).decode("utf-8", errors="replace") if regular else ""


def _branch(head: str) -> str:
    head = head.strip()
    name = head.removeprefix("ref: refs/heads/")
    return name if name != head and name.isprintable() and len(name) <= NAME else ""
