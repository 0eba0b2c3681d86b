"""Faults that a GPU's driver lays to programs: the same from several processes of one card points to the card.

NVIDIA's advice on Xid 13 and 31 is to suspect the application first, and the hardware where several applications show it on one GPU.
"""

from collections.abc import Sequence

from .drivers import read_xid

PROCESSES = 3
"""Processes with a fault on one card, and on no other, from which the card is suspected."""
KEPT = 16
"""Origins remembered."""


def origins(text: str) -> list[str]:
    """Return the card and the process that a line of the driver names, as one word; nothing where it names no process."""
    xid = read_xid(text)
    return [] if xid is None or xid.process is None else [f"{xid.device}/{xid.process}"]


def merged(known: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return both without repeats, the first few."""
    return list(dict.fromkeys([*known, *new]))[:KEPT]


def of_one_card(known: Sequence[str]) -> bool:
    """Return whether several processes had a fault, all on one card."""
    return len(known) >= PROCESSES and len({one.rsplit("/", 1)[0] for one in known}) == 1
