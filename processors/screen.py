"""The screen of a stream that moves the cursor: what a person at a terminal would read, line by line.

Bars, dashboards and live tables write over what they have printed: they go up, to a column, or erase (ECMA-48, control functions CUU, CUD,
CUF, CUB, CNL, CPL, CHA, CUP, ED and EL). Taken out of the text, these leave halves of lines glued together. So such a stream is drawn,
and of each piece the line stands for it that it wrote last. A stream that does not move the cursor passes as it is.
Every character takes one column.
"""

import re
from collections.abc import Sequence

import msgspec

HEIGHT, WIDTH = 64, 1000
"""Rows and columns that are remembered. What stands further up is no longer reached, what stands further right is cut."""

_CONTROL = re.compile(
    r"\x1b(?:\[([0-9;]{0,16})([A-HJKf])|\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])|[\r\b]"
)
_MOVES = re.compile(r"\x1b\[[0-9;]{0,16}[A-DE-Hf]|[^\r]\x1b\[[0-9;]{0,16}[JK](?:\x1b\[[0-9;]{0,16}m)?+[^\s\x1b]")
"""What only a screen can obey: a move, or what is erased between two texts."""


class Screen(msgspec.Struct):
    """What stands on the screen of one stream.

    Attributes:
        rows: The newest rows, the lowest last; none before the cursor moved for the first time.
        row: The cursor's.
        column: The cursor's.
    """

    rows: list[str] = []
    row: int = 0
    column: int = 0


def drawn(lines: Sequence[str], screen: Screen) -> Sequence[str]:
    r"""Return `lines` as a terminal shows them; as they are where the stream never moved the cursor. `screen` moves on.

    Args:
        lines: Pieces of the stream, in order; one that is drawn again ends with `\r`.
        screen: What is remembered of the stream.
    """
    if not screen.rows and not any("\x1b" in line and _MOVES.search(line) for line in lines):
        return lines
    return [_draw(line, screen) for line in lines]


def _draw(line: str, screen: Screen) -> str:
    """Draw one piece, and return the line that it wrote last; empty where it wrote none."""
    again = line.endswith("\r")
    screen.rows = screen.rows or [""]
    text, place, wrote = line.removesuffix("\r"), 0, ""
    for control in _CONTROL.finditer(text):
        wrote = _write(text[place : control.start()], screen) or wrote
        place = control.end()
        if control[0] == "\r":
            screen.column = 0
        elif control[0] == "\b":
            screen.column = max(0, screen.column - 1)
        elif control[2]:
            _obey(control[2], [int(each[:4] or 0) for each in control[1].split(";")], screen)
    wrote = _write(text[place:], screen) or wrote
    screen.column = 0
    if not again:
        _go_down(1, screen)
    return wrote + "\r" * again


def _write(text: str, screen: Screen) -> str:
    """Write `text` at the cursor and return the row as it then reads; empty where nothing is written.

    What is written from the first column on is a new line: of a longer one before it, nothing that still shows was meant to stay.
    """
    if not text:
        return ""
    at, before = screen.column, screen.rows[screen.row] if screen.column else ""
    row = (before[:at].ljust(at) + text + before[at + len(text) :])[:WIDTH]
    screen.rows[screen.row], screen.column = row, min(at + len(text), WIDTH)
    return row if text.strip() else ""


def _obey(function: str, numbers: Sequence[int], screen: Screen) -> None:
    count = numbers[0] or 1
    if function in "AF":
        screen.row = max(0, screen.row - count)
    elif function in "BE":
        _go_down(min(count, HEIGHT), screen)
    elif function in "CD":
        screen.column = min(max(0, screen.column + (count if function == "C" else -count)), WIDTH)
    elif function == "G":
        screen.column = min(count, WIDTH) - 1
    elif function in "Hf":
        row = min(count, HEIGHT) - 1
        screen.row = min(row, len(screen.rows) - 1)
        _go_down(row - screen.row, screen)
        screen.column = min((numbers[1:] or [1])[0] or 1, WIDTH) - 1
    elif function in "JK":
        _erase(function, numbers[0], screen)
    if function in "EF":
        screen.column = 0


def _erase(function: str, which: int, screen: Screen) -> None:
    """Erase from the cursor on (0), up to it (1) or all (2): of the row (`K`), or of the screen (`J`)."""
    row, at = screen.rows[screen.row], screen.column
    screen.rows[screen.row] = {0: row[:at], 1: " " * at + row[at:]}.get(which, "")
    if function == "J" and which == 0:
        del screen.rows[screen.row + 1 :]
    elif function == "J":
        above = screen.row if which == 1 else len(screen.rows)
        screen.rows[:above] = [""] * above


def _go_down(count: int, screen: Screen) -> None:
    screen.row += count
    screen.rows += [""] * (screen.row + 1 - len(screen.rows))
    over = max(0, len(screen.rows) - HEIGHT)
    del screen.rows[:over]
    screen.row -= over
