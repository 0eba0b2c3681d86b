"""Progress of a long comparison on standard error: a bar on a terminal, else a line for each result."""

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import track

Result = TypeVar("Result")


def show_progress(results: Iterable[Result], what: str, total: int) -> Iterator[Result]:
    """Yield the results, and show how many of `total` there are."""
    console = Console(stderr=True)
    if console.is_terminal:
        yield from track(results, what, total, console=console, transient=True)
        return
    print(f"{what}: 0 of {total}", file=sys.stderr, flush=True)
    for number, result in enumerate(results, 1):
        print(f"{what}: {number} of {total}", file=sys.stderr, flush=True)
        yield result
