"""Stored logs' chunks, with a progress bar for a person where there are many or long ones."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from schedmate_records import LogChunk
from streams.producers.stored import read_chunks

from ..cli.safe_console import SafeConsole
from ..terminal import one_line

MANY = 20
"""Logs from which a bar is shown."""


class LogReader:
    """Reads logs one after another; a bar on a terminal's standard error shows how much of all of them is done.

    There is none where results appear on a terminal meanwhile: those show how far it is. Use it as a context manager.
    """

    def __init__(self, files: Sequence[Path], *, prints: bool) -> None:
        """Set up.

        Args:
            files: The logs.
            prints: Something is printed on standard output for each log while the others are still to come.
        """
        self._files = [(file, _size(file)) for file in files]
        self._total = sum(size for _, size in self._files)
        # Bytes of all logs together from which a bar is shown.
        long = self._total >= (20 << 20) or len(files) >= MANY
        self._bar: Progress | None = None
        if long and sys.stderr.isatty() and not (prints and sys.stdout.isatty()):
            columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
            console = SafeConsole(stderr=True)
            self._bar = Progress(*columns, console=console, transient=True, redirect_stdout=False)
        self._task, self._done, self._number = TaskID(0), 0, 0

    def __enter__(self) -> "LogReader":
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("", total=self._total)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def files(self) -> Iterator[Path]:
        """Yield the logs; one counts as done when the next is asked for."""
        for number, (file, size) in enumerate(self._files, 1):
            self._number = number
            self._show(file, 0)
            yield file
            self._done += size

    def chunks(self, file: Path) -> Iterator[LogChunk]:
        """Yield the chunks of one of the logs. Raises as `read_chunks` does."""
        return read_chunks(file, lambda done: self._show(file, done))

    def _show(self, file: Path, done: int) -> None:
        if self._bar is not None:
            name = f"{one_line(file.name)[:32]} ({self._number} of {len(self._files)})"
            self._bar.update(self._task, description=name, completed=self._done + done)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size if file.is_file() else 0
    except OSError:  # the reader reports the error
        return 0
