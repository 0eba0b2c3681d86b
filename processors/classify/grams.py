"""Character n-grams and words of a template, hashed: what the linear model sees of a line."""

import re
from itertools import pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from processors.grammar.extractor import LONGEST
from processors.grammar.prefix import peel

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

    Prefix, letter case, folders of a path, and the length of numbers, rules, bars and gaps tell nothing of a line's class.
    """
    return _normal(peel(template[:LONGEST]).body)


def grams(text: str) -> NDArray[np.int64]:
    """Return the buckets of the n-grams of a normal `text`, each once, ascending; the hash is FNV's with a multiplicative finish."""
    points = np.frombuffer(f"\x02{text}\x03".encode("utf-32-le", "surrogatepass"), np.uint32)
    hashed, found = np.zeros(len(points), np.uint32), []
    for length in range(1, min(ORDER, len(points)) + 1):
        hashed = (hashed[: len(points) - length + 1] ^ points[length - 1 :]) * _FNV
        found.append(((hashed ^ (hashed >> np.uint32(15))) * _GOLDEN) >> np.uint32(32 - BITS))
    return np.unique(np.concatenate(found)).astype(np.int64)


def words(text: str, quiet: bool = False) -> NDArray[np.int64]:
    """Return the buckets of the words of a normal `text` and of their pairs, each once, ascending.

    The first word is that of the logger: whether it says that the line is informational, `quiet`.
    """
    found = ["\x04" if quiet else "\x02", *_WORDS.findall(text), "\x03"]
    terms = [*found, *(" ".join(pair) for pair in pairwise(found))]
    hashed = {crc32(term.encode("utf-8", "surrogatepass")) >> (32 - BITS) for term in terms}
    return np.array(sorted(hashed), np.int64) + (1 << BITS)


def features(template: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the buckets of `template`, below 2 ** (BITS + 1), and the value of each."""
    line = peel(template[:LONGEST])
    text = _normal(line.body)
    parts = ((grams(text), 1.0), (words(text, line.level in _QUIET), SHARE))
    values = [np.full(len(buckets), share / np.sqrt(len(buckets)), np.float32) for buckets, share in parts]
    return np.concatenate([buckets for buckets, _ in parts]), np.concatenate(values)


def _normal(body: str) -> str:
    text = _DIGITS.sub("1", _FOLDERS.sub("/", body.lower()))
    return _GAPS.sub("  ", _RULES.sub(r"\1\1", text))[:CHARACTERS].rstrip()
