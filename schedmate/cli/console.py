"""Where everything for a person is printed, and JSON: nothing goes to a terminal by another way."""

import sys
from typing import TYPE_CHECKING

from schedmate.terminal import json_safe, printable

if TYPE_CHECKING:
    from schedmate.safe_console import SafeConsole

WIDE = 250
"""Columns where the output goes into a pipe or a file, whose width nobody knows: nothing is cut there."""


def console() -> "SafeConsole":
    """Return standard output: as wide as the terminal, or wide."""
    from schedmate.safe_console import SafeConsole

    return SafeConsole() if sys.stdout.isatty() else SafeConsole(width=WIDE)


def say(text: str) -> None:
    """Print `text` and a newline at once."""
    _write(printable(text))


def say_json(text: str | bytes) -> None:
    """Print one JSON value and a newline at once."""
    _write(json_safe(text if isinstance(text, str) else text.decode()))


def warn(text: str) -> None:
    """Say what went wrong on standard error."""
    sys.stderr.write(f"schedmate: {printable(text)}\n")


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
