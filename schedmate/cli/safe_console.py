"""The console on which tables, colours and progress bars are shown."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from ..terminal import end_unread, printable


class SafeConsole(Console):
    """A console that shows `printable` text alone, and takes no markup from it."""

    def __init__(self, **how: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield what is to be written; what rich itself does to the cursor (a live table) stays."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """End the process: the reader of its output has gone."""
        self.quiet = True
        end_unread()
