"""Single keys from a terminal, without waiting for Enter."""

import os
import select
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

STANDARD_INPUT, STANDARD_OUTPUT = 0, 1

_NAMES: Final = {
    "\r": "enter", "\n": "enter", "\x1b": "escape", "\x7f": "backspace", "\x08": "backspace",
    "\x1b[A": "up", "\x1b[B": "down", "\x1bOA": "up", "\x1bOB": "down",
}  # fmt: skip


@contextmanager
def single_keys() -> Iterator[int]:
    """Let keys come at once and unseen; yield the terminal they come from, which is as it was afterwards.

    Where standard input is a pipe, that is the terminal of this session, as with `less`.
    """
    terminal = _keyboard()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal)
    try:
        yield terminal
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
        os.close(terminal)


def _keyboard() -> int:
    if os.isatty(STANDARD_INPUT):
        return os.dup(STANDARD_INPUT)
    try:
        return os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:  # no session has one; what shows the picture has a keyboard, too
        return os.dup(STANDARD_OUTPUT)


def pressed(terminal: int, wait_s: float) -> list[str]:
    """Return the keys pressed within `wait_s`, as soon as there are some: letters, and the names of others (`enter`, `up`, …).

    Raises:
        EOFError: The terminal is gone.
    """
    if not select.select([terminal], [], [], wait_s)[0]:
        return []
    data = os.read(terminal, 1024)
    if not data:
        raise EOFError
    return keys(data.decode(errors="replace"))


def keys(text: str) -> list[str]:
    """Return the keys that a terminal sent as `text`; those that have no name here are left out."""
    found, place = [], 0
    while place < len(text):
        taken = next((text[place : place + size] for size in (3, 1) if text[place : place + size] in _NAMES), "")
        if taken:
            found.append(_NAMES[taken])
        elif text[place].isprintable():
            found.append(text[place])
        place += len(taken) or 1
    return found
