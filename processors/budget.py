"""How much new text of a job is read: a line of a template never seen before costs hundreds of times one that is known.

Every job has tokens for new templates. They come back with the lines it prints and with the time that passes; so a job that prints what
jobs print never notices, and one that prints random bytes, or a corpus, costs the others next to nothing. A line that nobody
can pay for is passed over: it counts as a blank one. Lines that hold a word of failure, or of progress, have tokens of their own, so that a
job which prints free text for hours still gets its verdict.

All follows from the lines and from their arrival times, nothing from this process's clock or caches: a replay passes over the same lines.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from .grammar.extractor import DIGITS, LONGEST

READ = 2000
"""Characters that tell a template cut at `LONGEST` from others: more are looked at nowhere."""
CHARACTERS = 200
"""Characters of a template that cost a token more."""
SMALLEST, LARGEST = 128, 1024
"""Bytes of the Bloom filter that remembers which templates were paid for. A full one starts anew, twice as large: the state of most jobs
stays small."""
HASHES = 6
FULL = 0.6
"""Templates a byte at which the filter is full; up to there, one in three hundred is taken for known by mistake."""
LONGEST_WAIT = 1.0
"""Seconds between two chunks that bring tokens at most: a clock that jumps brings no more."""


class Purse(NamedTuple):
    """Tokens for one kind of line: how many there are at most, and how many a line and a second bring back."""

    most: float
    a_line: float
    a_second: float
    words: tuple[str, ...] = ()


PURSES = (
    Purse(3000, 1 / 80, 20),
    Purse(
        300,
        1 / 200,
        5,
        ("error", "exception", "traceback", "fatal", "fail", "kill", "abort", "xid", "nccl", "oom", "memory", "segfault", "signal"),
    ),
    Purse(300, 1 / 200, 5, ("loss", "step", "epoch", "it/s")),
)  # fmt: skip
"""All lines first draw on the first; then those that hold a word of another's on that.

Real logs repeat: 34 lines a template. The most that one of 700 needed at once is 1,540 tokens.
"""


class BudgetState(msgspec.Struct, array_like=True):
    """What is remembered of the new text of a job, 200 bytes to 1.4 KB as JSON.

    Attributes:
        tokens: Those left in each purse.
        time: Arrival of the newest chunk, in seconds since 1970.
        known: Bloom filter of the templates paid for; empty at first.
        held: How many it holds.
    """

    tokens: list[float] = msgspec.field(default_factory=lambda: [purse.most for purse in PURSES])
    time: float = 0.0
    known: bytes = b""
    held: int = 0


def over_budget(state: BudgetState, lines: Sequence[str], templates: Sequence[str], time: float) -> list[int]:
    """Return the places of the lines to be passed over, which arrived at `time`; `state` moves on."""
    _refill(state, len(lines), time)
    keys: Sequence[str] = templates
    if max(map(len, templates), default=0) >= LONGEST:
        keys = [
            line[:READ].translate(DIGITS) if len(template) >= LONGEST else template
            for line, template in zip(lines, templates, strict=True)
        ]
    refused = _pay(state, dict.fromkeys(keys))
    return [place for place, key in enumerate(keys) if key in refused] if refused else []


def _refill(state: BudgetState, lines: int, time: float) -> None:
    passed = min(max(time - state.time, 0.0), LONGEST_WAIT)
    state.time = max(state.time, time)
    state.tokens = [
        min(purse.most, held + lines * purse.a_line + passed * purse.a_second)
        for purse, held in zip(PURSES, state.tokens, strict=True)
    ]


def _pay(state: BudgetState, templates: Iterable[str]) -> set[str]:
    """Take the tokens for the templates that are new; return those that nothing is left for."""
    left = [each for each in templates if not _known(state, each) and not _buy(state, 0, each)]
    for purse in range(1, len(PURSES)):
        text = "\n".join(left).lower()
        if words := [word for word in PURSES[purse].words if word in text]:
            left = [
                each
                for each in left
                if not (state.tokens[purse] >= 1 and _holds(each.lower(), words) and _buy(state, purse, each))
            ]
    return set(left)


def _holds(text: str, words: Iterable[str]) -> bool:
    return any(word in text for word in words)


def _buy(state: BudgetState, purse: int, template: str) -> bool:
    """Take the tokens for a new template out of a purse; return False where it holds too few."""
    price = 1 + len(template) // CHARACTERS
    if state.tokens[purse] < price:
        return False
    state.tokens[purse] -= price
    known = bytearray(state.known or bytes(SMALLEST))
    if state.held >= FULL * len(known):
        known, state.held = bytearray(min(2 * len(known), LARGEST)), 0
    state.held += 1
    for bit in _bits(template, len(known)):
        known[bit >> 3] |= 1 << (bit & 7)
    state.known = bytes(known)
    return True


def _known(state: BudgetState, template: str) -> bool:
    known = state.known
    return bool(known) and all(known[bit >> 3] >> (bit & 7) & 1 for bit in _bits(template, len(known)))


def _bits(template: str, size: int) -> list[int]:
    digest = blake2b(template.encode("utf-8", "replace"), digest_size=2 * HASHES).digest()
    return [(digest[place] << 8 | digest[place + 1]) % (8 * size) for place in range(0, 2 * HASHES, 2)]
