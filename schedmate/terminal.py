"""Output for a person at a terminal: text of a job neither acts on the terminal nor hides text there.

Escape sequences move the cursor, set the window's title or write to the clipboard; bidirectional marks show text in another order
than it has. All that acts so is shown as an escape that can be seen.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn
from unicodedata import category


def printable(text: str) -> str:
    """Return `text` with everything that would act on a terminal as a visible escape; tabs and newlines stay."""
    if text.isprintable():
        return text
    return "".join(_escape(each) if _acts(each) and each not in "\t\n" else each for each in text)


def one_line(text: str) -> str:
    """Return `text` as `printable` does, and on one line: tabs and newlines are shown as escapes, too."""
    return text if text.isprintable() else "".join(_escape(each) if _acts(each) else each for each in text)


def json_safe(text: str) -> str:
    """Return JSON with the same content that a terminal may show: control characters are JSON escapes."""
    if text.isprintable():
        return text
    return "".join(_json_escape(ord(each)) if _acts(each) and each not in "\t\n" else each for each in text)


def _acts(letter: str) -> bool:
    # Controls, marks without a shape (direction, width), halves of pairs, and separators.
    return category(letter) in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape", "surrogatepass").decode()


def _json_escape(code: int) -> str:
    if code > 0xFFFF:
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return f"\\u{code:04x}"


@contextmanager
def ends_unread() -> Iterator[None]:
    """Write standard output inside; the process ends quietly once its reader is gone, as with `head`."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        end_unread()


def end_unread() -> NoReturn:
    """End the process without an error; what is left of its output goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)
