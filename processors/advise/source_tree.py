"""Protocol of a source tree. This package reads no disk; `scheduler_bridge.sources` implements the protocol."""

from typing import Protocol

ROOT = "/source"
"""Directory in which a program that is followed assumes its tree."""


class SourceTree(Protocol):
    """Files below one directory, named by their path relative to it (POSIX, without `..`)."""

    def relative(self, path: str, base: str = ".") -> str | None:
        """Return `path`, taken from the directory `base` of the tree, as a name in the tree; null outside of it."""

    def is_file(self, name: str | None) -> bool:
        """Return whether `name` is a regular file of the tree that may be opened."""
        ...

    def is_directory(self, name: str | None) -> bool:
        """Return whether `name` is a directory of the tree."""
        ...

    def read(self, name: str | None) -> str | None:
        """Return a file's text; null if it may not be read."""

    def files(self) -> list[str]:
        """Return the names of files, sorted. The number is limited."""
        ...
