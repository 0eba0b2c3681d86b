"""Values as cells of a table for a person."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from rich.text import Text

from schedmate.terminal import one_line

_WORDS: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (type(None), lambda _: ""),
    (bool, lambda value: "yes" if value else "no"),
    (float, lambda value: f"{value:.6g}"),
    (datetime, lambda value: value.astimezone().isoformat(" ", "seconds")),
    (bytes, lambda value: value.decode(errors="backslashreplace")),
)


def cell(value: Any, style: str = "") -> Text:
    """Return `value` as one line of text. What a job printed neither marks up nor moves the terminal's cursor."""
    return Text(one_line(_said(value)), style=style)


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={_said(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_said, value))
    for kind, say in _WORDS:
        if isinstance(value, kind):
            return say(value)
    return str(value)


def moment(seconds: float | None) -> datetime | None:
    """Return seconds since 1970 as a moment; None stays None, and so does what no calendar holds."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds).astimezone()
    except (OverflowError, ValueError, OSError):
        return None
