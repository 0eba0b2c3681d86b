"""What a counter of some name may count."""

import re

from .roles import Role

_COUNTED: tuple[tuple[re.Pattern[str], Role], ...] = (
    (re.compile(r"(?i)token"), Role.TOKEN),
    (re.compile(r"(?i)sample|example|image|sequence|seq_"), Role.SAMPLE),
    (re.compile(r"(?i)step|iter|update|batch"), Role.STEP),
    (re.compile(r"(?i)epoch"), Role.EPOCH),
)


def counted(name: str) -> Role | None:
    """Return what a counter of this name may count, by a word in it; None where none tells."""
    return next((role for pattern, role in _COUNTED if pattern.search(name)), None)
