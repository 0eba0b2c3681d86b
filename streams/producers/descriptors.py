"""This process's own standard descriptors.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress


def hold_standard_descriptors() -> None:
    """Open /dev/null in place of a closed standard descriptor, so that no pipe of ours gets its number."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError as error:
            if error.errno == errno.EBADF:
                with suppress(OSError):
                    os.open(os.devnull, os.O_RDWR)


def let_go(*descriptors: int) -> None:
    """Put /dev/null in their place, so that who writes to us, or reads from us, learns at once that it is over."""
    try:
        null = os.open(os.devnull, os.O_RDWR)
    except OSError:  # too many open files
        for descriptor in descriptors:
            with suppress(OSError):
                os.close(descriptor)
        return
    for descriptor in descriptors:
        os.dup2(null, descriptor)
    os.close(null)


def say(text: str) -> None:
    """Write `text` to the user, on standard error, if that is still open."""
    with suppress(OSError):
        os.write(2, f"schedmate pipe: {text}\n".encode(errors="replace"))
