"""How much new text of a job is read: a line of a template never seen before costs hundreds of times one that is known.

Every job has tokens for new templates. They come back with the lines it prints and with the time that passes; so a job that prints what
jobs print never notices, and one that prints random bytes, or a corpus, costs the others next to nothing. A line that nobody
can pay for is passed over: it counts as a blank one. Lines that hold a word of failure, or of progress, have tokens of their own, so that a
job which prints free text for hours still gets its verdict.

All follows from the lines and from their arrival times, nothing from this process's clock or caches: a replay passes over the same lines.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec
import re2

from .grammar.extractor import DIGITS, LONGEST

READ = 2000
"""Characters that tell a template cut at `LONGEST` from others: more are looked at nowhere."""
CHARACTERS = 200
"""Characters of a template that cost a token more."""
SMALLEST, LARGEST = 128, 1024
"""Bytes, powers of two, of the Bloom filter that remembers which templates were paid for. A full one starts anew, twice as large: the
state of most jobs stays small."""
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
    Purse(3000, 1 / 320, 5),
    Purse(
        300,
        1 / 400,
        3,
        ("error", "exception", "traceback", "fatal", "fail", "kill", "abort", "xid", "nccl", "oom", "memory", "segfault", "signal"),
    ),
    Purse(300, 1 / 400, 3, ("loss", "step", "epoch", "it/s")),
)  # fmt: skip
"""All lines first draw on the first; then those that hold a word of another's on that.

Real logs repeat: 34 lines a template. The most that one of 700 needed at once is 1,720 tokens; with four times as many brought back by a
line, 1,620.
"""


def _any_of(words: Sequence[str]) -> Any:
    options = re2.Options()
    options.case_sensitive = False
    return re2.compile("|".join(map(re2.escape, words)).encode(), options)


_WORDED = [_any_of(purse.words) for purse in PURSES]


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
    left = [each for each in templates if not (_known(state, each) or _buy(state, 0, each))]
    for purse in range(1, len(PURSES)):
        bought = set[str]()
        for each in _holding(_WORDED[purse], left):
            if state.tokens[purse] < 1:
                break
            if _buy(state, purse, each):
                bought.add(each)
        left = [each for each in left if each not in bought] if bought else left
    return set(left)


def _holding(worded: Any, templates: Sequence[str]) -> Iterator[str]:
    """Yield those of `templates` that hold a word, as long as they are asked for: one scan finds where."""
    text = "\n".join(templates).encode("utf-8", "replace")
    if text.count(b"\n") >= len(templates):  # a line feed within a line
        yield from (each for each in templates if worded.search(each.encode("utf-8", "replace")))
        return
    place, at, last = 0, 0, -1
    for found in worded.finditer(text):
        place, at = place + text.count(b"\n", at, found.start()), found.start()
        if place > last:
            yield templates[place]
        last = place


def _buy(state: BudgetState, purse: int, template: str) -> bool:
    """Take the tokens for a new template out of a purse; return False where it holds too few."""
    if state.tokens[purse] < 1:
        return False
    price = 1 + len(template) // CHARACTERS
    if state.tokens[purse] < price:
        return False
    state.tokens[purse] -= price
    known = bytearray(state.known or bytes(SMALLEST))
    if state.held >= FULL * len(known):
        known, state.held = bytearray(min(2 * len(known), LARGEST)), 0
    state.held += 1
    bits, most = _hashes(template), 8 * len(known) - 1
    for _ in range(HASHES):
        known[(bits & most) >> 3] |= 1 << (bits & 7)
        bits >>= 16
    state.known = bytes(known)
    return True


def _known(state: BudgetState, template: str) -> bool:
    known = state.known
    if not known:
        return False
    bits, most = _hashes(template), 8 * len(known) - 1
    for _ in range(HASHES):  # most new templates lack the first bit or the second
        if not known[(bits & most) >> 3] >> (bits & 7) & 1:
            return False
        bits >>= 16
    return True


def _hashes(template: str) -> int:
    """Return `HASHES` numbers of 16 bits in one."""
    return int.from_bytes(blake2b(template.encode("utf-8", "replace"), digest_size=2 * HASHES).digest(), "big")
