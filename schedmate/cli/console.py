"""Where tables for a person are printed."""

import sys

from rich.console import Console

WIDE = 250
"""Columns where the output goes into a pipe or a file, whose width nobody knows: nothing is cut there."""


def console() -> Console:
    """Return standard output: as wide as the terminal, or wide."""
    return Console(highlight=False) if sys.stdout.isatty() else Console(width=WIDE, highlight=False)
