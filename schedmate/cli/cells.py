"""Values as text for a person."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from ..terminal import one_line

_WORDS: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (type(None), lambda _: ""),
    (bool, lambda value: "yes" if value else "no"),
    (float, lambda value: f"{value:.6g}"),
    (bytes, lambda value: value.decode(errors="backslashreplace")),
)


def as_text(value: Any, moment: Callable[[datetime], str]) -> str:
    """Return `value` as one line. What a job printed neither marks up nor moves the terminal's cursor. `moment` words a time."""
    return one_line(_as_text(value, moment))


def _as_text(value: Any, moment: Callable[[datetime], str]) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={_as_text(each, moment)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_as_text(each, moment) for each in value)
    if isinstance(value, datetime):
        return moment(value)
    for kind, words in _WORDS:
        if isinstance(value, kind):
            return words(value)
    return str(value)
