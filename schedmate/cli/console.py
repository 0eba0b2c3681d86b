"""Output of commands, as text and JSON. Nothing is printed to a terminal in another way."""

import os
import sys
from typing import TYPE_CHECKING

from ..terminal import ends_unread, json_safe, printable

if TYPE_CHECKING:
    from .safe_console import SafeConsole

WIDE = 250
"""Columns of output without a known width: nothing is folded there."""


def console() -> "SafeConsole":
    """Return standard output: as wide as the terminal or `COLUMNS`, else `WIDE`."""
    from .safe_console import SafeConsole

    return SafeConsole() if width_is_told() else SafeConsole(width=WIDE)


def width_is_told() -> bool:
    """Return whether output should keep to a width: a terminal's, or that of `COLUMNS`. Elsewhere, as in a pipe, rows stay whole."""
    return sys.stdout.isatty() or os.environ.get("COLUMNS", "").strip("0").isdecimal()


def print_line(text: str) -> None:
    """Print `text` and a newline at once."""
    _write(printable(text))


def print_json(text: str | bytes) -> None:
    """Print one JSON value and a newline at once."""
    _write(json_safe(text if isinstance(text, str) else text.decode()))


def warn(text: str) -> None:
    """Print an error or a warning on standard error."""
    sys.stderr.write(f"schedmate: {printable(text)}\n")


def _write(line: str) -> None:
    with ends_unread():
        sys.stdout.write(line + "\n")
