"""Faults that a GPU's driver lays to programs: the same from several processes of one card points to the card.

NVIDIA's advice on Xid 13 and 31 is to suspect the application first, and the hardware where several applications show it on one GPU.
"""

import re
from collections.abc import Sequence

PROCESSES = 3
"""Processes with a fault on one card, and on no other, from which the card is suspected."""
KEPT = 16
"""Origins remembered."""

_ORIGIN = re.compile(r"Xid \(([^)]{1,40})\): \d+, pid=(\d+)")


def origins(text: str) -> list[str]:
    """Return the card and the process that a line of the driver names, as one word; nothing where it names no process."""
    found = _ORIGIN.search(text)
    return [f"{found[1]}/{found[2]}"] if found else []


def merged(known: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return both without repeats, the first few."""
    return list(dict.fromkeys([*known, *new]))[:KEPT]


def of_one_card(known: Sequence[str]) -> bool:
    """Return whether several processes had a fault, all on one card."""
    return len(known) >= PROCESSES and len({one.rsplit("/", 1)[0] for one in known}) == 1
