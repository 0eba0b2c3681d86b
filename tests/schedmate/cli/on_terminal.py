"""Runs the command line on a terminal of its own, as a person sees it."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping


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
    process = subprocess.Popen(
        [sys.executable, "-m", "schedmate", *arguments], stdin=theirs, stdout=theirs if stdout is None else stdout,
        stderr=theirs, env=environment,
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    while block := _read(ours):
        seen += block
    os.close(ours)
    process.wait(60)
    text = seen.decode(errors="replace").replace("\r\n", "\n")
    return text if raw else re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the last process has let go of it
        return b""
