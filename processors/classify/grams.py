"""Character n-grams of a template, hashed: what the linear model sees of a line."""

import re

import numpy as np
from numpy.typing import NDArray

from processors.grammar.extractor import LONGEST
from processors.grammar.prefix import peel

ORDER = 5
"""Characters of the longest n-gram; the shortest is one."""

BITS = 15
"""Hashed n-grams fall into 2**BITS buckets."""

CHARACTERS = 200
"""Characters of a message that are looked at."""

_FOLDERS = re.compile(r"/?(?:[\w.+@~-]+/){2,}")
_DIGITS = re.compile(r"\d{2,}")
_RULES = re.compile(r"([^\w\s])\1{2,}")
_GAPS = re.compile(r" {3,}")
_FNV = np.uint32(0x01000193)
_GOLDEN = np.uint32(0x9E3779B1)


def normal(template: str) -> str:
    """Return the message of `template` in the form that n-grams are taken from.

    Prefix, letter case, folders of a path, and the length of numbers, rules, bars and gaps tell nothing of a line's class.
    """
    body = peel(template[:LONGEST]).body.lower()
    body = _DIGITS.sub("1", _FOLDERS.sub("/", body))
    return _GAPS.sub("  ", _RULES.sub(r"\1\1", body))[:CHARACTERS].rstrip()


def grams(template: str) -> NDArray[np.int64]:
    """Return the buckets of the n-grams of `template`, each once, ascending; the hash is FNV's with a multiplicative finish."""
    text = np.frombuffer(f"\x02{normal(template)}\x03".encode("utf-32-le", "surrogatepass"), np.uint32)
    hashed, found = np.zeros(len(text), np.uint32), []
    for length in range(1, min(ORDER, len(text)) + 1):
        hashed = (hashed[: len(text) - length + 1] ^ text[length - 1 :]) * _FNV
        found.append(((hashed ^ (hashed >> np.uint32(15))) * _GOLDEN) >> np.uint32(32 - BITS))
    return np.unique(np.concatenate(found)).astype(np.int64)
