"""Budget for new text of a job. A line with a new template costs hundreds of times as much as one with a known template.

Every job has tokens for new templates. They come back with the lines it prints and with the time that passes; so a job that prints what
jobs print is never limited, and one that prints random bytes, or a corpus, costs the others next to nothing. A line for which no tokens
are left is treated as blank. Lines that hold a word of failure, or of progress, have tokens of their own, so that a
job which prints free text for hours still gets its verdict.

Programs print a few templates of each of many forms, and the same words again with other numbers. Data has one form, or a few, and other
words in each line. So a template with new words costs the more the more was spent on its form, unless its chunk holds it twice. That leaves
some hundred templates of most data, where a program may print thousands. All lines behind one logger's prefix may be of one form: the
settings that a program prints are read first, and progress has tokens of its own.

All follows from the lines and from their arrival times, nothing from this process's clock or caches: a replay passes over the same lines.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from zlib import crc32

import msgspec
import re2

from .grammar.extractor import DIGITS, LONGEST

READ = 2000
"""Maximum length of a template in characters, where lines are cut at `LONGEST`."""
FORMS = 128
"""Counters of tokens by form, two bytes each; forms share them by their hash."""
USUAL, DOUBLED = 300, 16
"""Tokens spent on one form from which a template with new words costs twice as much, and twice again with each so many more."""
KEPT = 0.5
"""Share of the first purse that is kept for forms on which less than that was spent."""
SMALLEST, LARGEST = 256, 2048
"""Bytes, powers of two, of the Bloom filter that remembers which templates were paid for. A full one starts anew, twice as large: the
state of most jobs stays small."""
HASHES = 6
"""Bits that the filter sets for a template. More cost time for each line; with fewer, more templates are taken for known."""
_PROBES = range(HASHES)


class Purse(NamedTuple):
    """Tokens for one kind of line.

    Attributes:
        most: How many there are at most, and at first.
        a_line: How many a line brings back.
        a_second: How many a second brings back.
        max_factor: Maximum factor on the price of a template, however many of its form there were.
        words: A line must hold one of them; empty: any line will do.
        newest_first: Lines at the end of a chunk come first: of progress, the newest counts.
    """

    most: float
    a_line: float
    a_second: float
    max_factor: int
    words: tuple[str, ...] = ()
    newest_first: bool = False


PURSES = (
    Purse(3000, 1 / 320, 5, 64),
    Purse(
        300,
        1 / 400,
        3,
        16,
        ("error", "exception", "traceback", "fatal", "fail", "kill", "abort", "xid", "nccl", "oom", "memory", "segfault", "signal"),
    ),
    Purse(
        100,
        1 / 100,
        3,
        4,
        ("loss", "step", "epoch", "iter", "it/s", "s/it", "train", "checkpoint", "saved", "saving"),
        newest_first=True,
    ),
)  # fmt: skip
"""All lines first draw on the first; then those that hold a word of another's on that.

Real logs repeat: 34 lines a template. Of 488 of the corpus 477 are read whole; what is passed over of the others are settings.
"""


def _any_of(words: Sequence[str]) -> Any:
    options = re2.Options()
    options.case_sensitive = False
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile("|".join(map(re2.escape, words)).encode(), options)


_WORDED = [_any_of(purse.words) for purse in PURSES]
_KINDS = bytes(
    ord("a") if each >= 128 or chr(each).isalnum() or each == ord("_") else ord(" ") if each <= ord(" ") else ord("#")
    for each in range(256)
)
"""Bytes of words, of gaps, and others. What is not ASCII counts as a word's."""
_NO_LETTERS = bytes(each for each in range(256) if each >= 128 or not chr(each).isalpha())
_WORD, _MARKS, _GAP = re.compile(rb"a+"), re.compile(rb" *#[ #]*"), re.compile(rb" +")


class BudgetState(msgspec.Struct, array_like=True):
    """State of the budget of a job; 200 bytes to 3 KB as JSON.

    Attributes:
        tokens: Those left in each purse.
        time: Arrival of the newest chunk, in seconds since 1970.
        known: Bloom filter of the templates paid for; empty at first.
        held: How many it holds.
        forms: Tokens spent on each form; empty at first, and again when the first purse is full.
    """

    tokens: list[float] = msgspec.field(default_factory=lambda: [purse.most for purse in PURSES])
    time: float = 0.0
    known: bytes = b""
    held: int = 0
    forms: bytes = b""


def over_budget(state: BudgetState, lines: Sequence[str], templates: Sequence[str], time: float) -> list[int]:
    """Return the places of the lines to be passed over, which arrived at `time`; `state` moves on."""
    _refill(state, len(lines), time)
    keys, counts = templates, Counter(templates)
    if max(map(len, counts), default=0) >= LONGEST:
        keys = [
            line[:READ].translate(DIGITS) if len(template) >= LONGEST else template
            for line, template in zip(lines, templates, strict=True)
        ]
        counts = Counter(keys)
    new = _unknown(state.known, counts)
    refused = _pay(state, new, counts) if new else ()
    return [place for place, key in enumerate(keys) if key in refused] if refused else []


def _refill(state: BudgetState, lines: int, time: float) -> None:
    # A clock that jumps brings the tokens of one second at most.
    passed = min(max(time - state.time, 0.0), 1.0)
    state.time = max(state.time, time)
    state.tokens = [
        min(purse.most, held + lines * purse.a_line + passed * purse.a_second)
        for purse, held in zip(PURSES, state.tokens, strict=True)
    ]
    if state.tokens[0] >= PURSES[0].most:
        state.forms = b""


def _pay(state: BudgetState, left: dict[str, None], counts: Mapping[str, int]) -> set[str]:
    """Take the tokens for new templates, by how often the chunk holds each; return those that nothing is left for."""
    for purse, worded in enumerate(_WORDED):
        if left and state.tokens[purse] >= 1:
            if not PURSES[purse].words:
                wanted: Iterable[str] = sorted(left, key=counts.__getitem__, reverse=True)  # what repeats comes first
            elif PURSES[purse].newest_first:
                wanted = reversed(list(_holding(worded, list(left)[-64:])))
            else:
                wanted = _holding(worded, list(left))
            for each in _bought(state, purse, wanted, counts):
                del left[each]
    return set(left)


def _bought(state: BudgetState, number: int, wanted: Iterable[str], counts: Mapping[str, int]) -> list[str]:
    """Take the tokens for `wanted` out of a purse; return those that were paid for. Few refusals close it."""
    purse, refused = PURSES[number], 0
    bought: list[str] = []
    said: dict[str, None] = {}
    forms = array("H", state.forms or bytes(2 * FORMS))
    for each in wanted:
        form, price = _form(each)
        words = _words_of(each)
        # Only words of three letters and more distinguish statements.
        new = len(words) < 3 or not (words in said or _is_known(state.known, words))
        left = state.tokens[number]
        if new and counts[each] == 1 and forms[form] >= USUAL:
            price *= min(2 << (forms[form] - USUAL) // DOUBLED, purse.max_factor)
            left -= 0 if purse.words else KEPT * purse.most
        if price > left:
            refused += 1
            if refused == 16:
                break
            continue
        state.tokens[number] -= price
        if new:
            forms[form] = min(forms[form] + price, 65535)
            said[words] = None
        bought.append(each)
    if bought:
        state.forms = forms.tobytes()
        _remember(state, bought)
        _remember(state, said)
    return bought


def _form(template: str) -> tuple[int, int]:
    """Return the number of the form of `template`, the sequence of words, gaps and symbols at its beginning, and its price."""
    # The form of a template follows from its first 96 characters.
    # A time before a message is no part of its form.
    form, price = _form_of(template.lstrip("1-:,./[]()TZ ")[:96])
    # Each 100 characters of a template cost one token more.
    return form, price + len(template) // 100


@lru_cache(maxsize=4096)
def _form_of(beginning: str) -> tuple[int, int]:
    """Return the number of the form of a template with this beginning, and the price of a short one."""
    kinds = beginning.encode("utf-8", "replace").translate(_KINDS)
    form = _GAP.sub(b" ", _MARKS.sub(b"#", _WORD.sub(b"a", kinds)))
    longest = max(map(len, kinds.replace(b"#", b" ").split()), default=0)
    # Numbers and punctuation cost most to read: two symbols above 32 cost one token. So do 20 letters of one word.
    return crc32(form[:12]) % FORMS, 1 + max(len(form) - 32, 0) // 2 + longest // 20


def _words_of(template: str) -> str:
    """Return the words of `template`, without what differs where one statement prints other numbers and longer bars."""
    return template.encode("utf-8", "replace").translate(None, _NO_LETTERS).decode()


def _holding(worded: Any, templates: Sequence[str]) -> Iterator[str]:
    """Yield those of `templates` that hold a word, as long as they are asked for: one scan finds where."""
    text = _as_latin("\n".join(templates))
    if text.count(b"\n") >= len(templates):  # a line feed within a line
        yield from (each for each in templates if worded.search(_as_latin(each)))
        return
    place, at, last = 0, 0, -1
    for found in worded.finditer(text):
        place, at = place + text.count(b"\n", at, found.start()), found.start()
        if place > last:
            yield templates[place]
        last = place


def _as_latin(text: str) -> bytes:
    """Return a byte a character, as fast as copying; what Latin 1 lacks is a question mark, which no word holds."""
    return text.encode("latin-1", "replace")


def _remember(state: BudgetState, templates: Iterable[str]) -> None:
    """Put templates into the filter."""
    known = bytearray(state.known or bytes(SMALLEST))
    for each in templates:
        # At 0.6 templates a byte the filter is full: it takes one new template in 300 for known.
        if state.held >= 0.6 * len(known):
            known, state.held = bytearray(min(2 * len(known), LARGEST)), 0
        state.held += 1
        place, step, most = *_hashed(each), 8 * len(known) - 1
        for _ in range(HASHES):
            known[(place & most) >> 3] |= 1 << (place & 7)
            place += step
    state.known = bytes(known)


def _is_known(known: bytes, template: str) -> bool:
    """Return whether the filter holds a template."""
    return not _unknown(known, (template,))


def _unknown(known: bytes, templates: Iterable[str]) -> dict[str, None]:
    """Return those of `templates` that the filter lacks."""
    if not known:
        return dict.fromkeys(templates)
    lacking: dict[str, None] = {}
    most = 8 * len(known) - 1
    for each in templates:
        place, step = _hashed(each)
        for _ in _PROBES:  # most new templates lack the first bit or the second
            if not known[(place & most) >> 3] >> (place & 7) & 1:
                lacking[each] = None
                break
            place += step
    return lacking


def _hashed(template: str) -> tuple[int, int]:
    """Return where the bits of a template begin, and how far each is from the one before."""
    try:
        told = template.encode("latin-1")
    except UnicodeEncodeError:
        told = template.encode("utf-8", "replace")
    value = crc32(told)
    return value & 0xFFFF, value >> 16 | 1
