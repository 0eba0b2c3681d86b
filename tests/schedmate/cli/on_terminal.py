"""Runs the command line on a terminal of its own, as a person sees it."""

import fcntl
import os
import pty
import re
import struct
import termios
import threading
from collections.abc import Mapping

from tests.schedmate.forked import run_on


def on_terminal(
    *arguments: str, columns: int = 80, raw: bool = False, stdout: int | None = None, **variables: str
) -> str:
    """Return what stands on a terminal of so many columns after the command; with `raw`, escape sequences too.

    With `stdout`, standard output goes there, and standard error alone to the terminal.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment: Mapping[str, str] = {
        "SCHEDMATE_CONFIG": "/dev/null",
        "PATH": "/usr/bin:/bin",
        "TERM": "xterm-256color",
        **variables,
    }
    seen: list[bytes] = []
    reader = threading.Thread(target=lambda: seen.extend(iter(lambda: _read(ours), b"")))
    reader.start()
    run_on((theirs, theirs if stdout is None else stdout, theirs), *arguments, env=environment)
    os.close(theirs)
    reader.join()
    os.close(ours)
    text = b"".join(seen).decode(errors="replace").replace("\r\n", "\n")
    return text if raw else re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the last process has let go of it
        return b""
