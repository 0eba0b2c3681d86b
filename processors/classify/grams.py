"""Character n-grams and words of a template, hashed: what the linear model sees of a line."""

import re
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ..grammar.extractor import LONGEST
from ..grammar.prefix import strip_prefix

ORDER = 5
"""Characters of the longest n-gram; the shortest is one."""

BITS = 15
"""Hashed n-grams fall into 2**BITS buckets; words and pairs of words into as many more."""

SHARE = 1.0
"""Length of the vector of words where that of n-grams has length 1."""

CHARACTERS = 200
"""Characters of a message that are looked at."""

_FOLDERS = re.compile(r"/?(?<![\w.+@~-])(?:[\w.+@~-]++/){2,}+")
_DIGITS = re.compile(r"\d{2,}")
_RULES = re.compile(r"([^\w\s])\1{2,}")
_GAPS = re.compile(r" {3,}")
_WORDS = re.compile(r"[^\W\d_]+")
_QUIET = ("INFO", "DEBUG", "TRACE", "NOTICE")
_FNV = np.uint32(0x01000193)
_GOLDEN = np.uint32(0x9E3779B1)


def normal(template: str) -> str:
    """Return the message of `template` in the form that n-grams are taken from.

    Prefix, letter case, folders of a path, and the length of numbers, rules, bars and gaps have no influence on a line's class.
    """
    return _normal(strip_prefix(template[:LONGEST]).body)


class Buckets(NamedTuple):
    """Buckets of several texts: those of a text are together, each once and ascending.

    Attributes:
        found: The buckets of all texts.
        counts: How many are of each text.
    """

    found: NDArray[np.int64]
    counts: NDArray[np.int64]


def grams(texts: Sequence[str]) -> Buckets:
    """Return the buckets of the n-grams of normal `texts`; the hash is FNV's with a multiplicative finish."""
    points = np.frombuffer("".join(f"\x02{text}\x03" for text in texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    lengths = np.array([len(text) + 2 for text in texts], np.int64)
    room = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(points))
    rows = np.repeat(np.arange(len(texts), dtype=np.int64) << BITS, lengths)
    hashed, found = np.zeros(len(points), np.uint32), []
    for length in range(1, min(ORDER, len(points)) + 1):
        hashed = (hashed[: len(points) - length + 1] ^ points[length - 1 :]) * _FNV
        buckets = ((hashed ^ (hashed >> np.uint32(15))) * _GOLDEN) >> np.uint32(32 - BITS)
        found.append((rows[: len(buckets)] | buckets)[room[: len(buckets)] >= length])
    ordered = np.sort(np.concatenate(found))
    ordered = ordered[np.diff(ordered, prepend=-1) > 0]
    return Buckets(ordered & ((1 << BITS) - 1), np.bincount(ordered >> BITS, minlength=len(texts)))


def words(texts: Sequence[str], quiet: Sequence[bool]) -> Buckets:
    """Return the buckets of the words of normal `texts` and of their pairs.

    The first word is the level of the logger: whether the line is informational, `quiet`.
    """
    found = [_hashed(text, each) for text, each in zip(texts, quiet, strict=True)]
    buckets = np.fromiter(chain.from_iterable(found), np.int64) + (1 << BITS)
    return Buckets(buckets, np.array([len(each) for each in found], np.int64))


def features(templates: Sequence[str]) -> tuple[tuple[Buckets, float], ...]:
    """Return the buckets of `templates`, below 2 ** (BITS + 1): n-grams, then words; with each part the length of its vectors."""
    lines = [strip_prefix(template[:LONGEST]) for template in templates]
    texts = [_normal(line.body) for line in lines]
    return (grams(texts), 1.0), (words(texts, [line.level in _QUIET for line in lines]), SHARE)


def _hashed(text: str, quiet: bool) -> list[int]:
    terms = ["\x04" if quiet else "\x02", *_WORDS.findall(text), "\x03"]
    known = [term.encode("utf-8", "surrogatepass") for term in terms]
    hashed = {crc32(term) for term in known}
    hashed.update(crc32(after, crc32(b" ", crc32(before))) for before, after in pairwise(known))
    return sorted({each >> (32 - BITS) for each in hashed})


def _normal(body: str) -> str:
    text = body.lower()
    if text.count("/") > 1:
        text = _FOLDERS.sub("/", text)
    text = _RULES.sub(r"\1\1", _DIGITS.sub("1", text))
    return (_GAPS.sub("  ", text) if "   " in text else text)[:CHARACTERS].rstrip()
