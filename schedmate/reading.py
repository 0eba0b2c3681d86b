"""A stored log's chunks, with a progress bar for a person where it takes long."""

import sys
from collections.abc import Iterator
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from records import LogChunk
from schedmate.safe_console import SafeConsole
from streams.producers.stored import read_chunks

LONG = 20 << 20
"""Bytes from which a bar is shown: a smaller file is read before anybody would see it."""


def shown(file: Path) -> Iterator[LogChunk]:
    """Yield the chunks of `file`; a long one shows a bar on a terminal's standard error."""
    size = file.stat().st_size if file.is_file() else 0
    if size < LONG or not sys.stderr.isatty():
        yield from read_chunks(file)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=SafeConsole(stderr=True), transient=True) as bar:
        task = bar.add_task(file.name, total=size)
        yield from read_chunks(file, lambda done: bar.update(task, completed=done))
