"""Claims of the model, checked against the lines that they cite. A claim that its line does not prove is dropped."""

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from math import isfinite
from typing import Any

import msgspec

from ..metadata.registry import TASKS

NAMES = ("model_name", "dataset_train", "dataset_valid")
NUMBERS = ("iters", "batch_size", "lr")
FIELDS = ("model_name", "task_type", "dataset_train", "dataset_valid", "iters", "iter_type", "batch_size", "lr")
UNITS: Mapping[str, tuple[str, ...]] = {
    "step": ("step", "iter", "update"),
    "epoch": ("epoch",),
    "token": ("token",),
    "episode": ("episode",),
}
LONGEST = 100
"""Characters of a value."""
_SPEAKS_OF = {
    "iters": tuple(word for words in UNITS.values() for word in words),
    "batch_size": ("batch", "bs", "bsz"),
    "lr": ("lr", "learning"),
    "model_name": ("model", "arch", "net", "network", "backbone", "pretrain", "checkpoint", "encoder"),
    "dataset_train": ("data", "train", "corpus"),
    "dataset_valid": ("valid", "val", "eval", "test", "dev"),
}
"""Words of which one must stand in the line, as a name or a part of one."""
_NUMBER = re.compile(
    r"(?<![\w.])\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d{1,3})?(?![\w.])|(?<![\w.])\.\d+(?:[eE][-+]?\d{1,3})?(?![\w.])"
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_MOST = {"iters": 1e15, "batch_size": 1e9, "lr": 1e3}


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A value, and the line that it rests on.

    Attributes:
        field: Field of `Workload`.
        value: Value of the field in that line.
        path: File, relative to the tree.
        line: Its number, from 1.
    """

    field: str
    value: str | float
    path: str
    line: int


def checked(
    claim: Mapping[str, Any],
    open_fields: frozenset[str],
    line_of: Callable[[str, int], str | None],
    train: str | float | None = None,
) -> Claim | None:
    """Return a claim that its line proves, else null.

    Args:
        claim: Claim of the model, inside the schema.
        open_fields: Fields that may be filled.
        line_of: Returns a line that the model was shown.
        train: Proved name of the training data. It may be that of the evaluations, too, and their line need not repeat it.
    """
    field, text = claim["field"], claim["value"].strip()
    line = line_of(claim["path"], claim["line"]) if field in open_fields and text else None
    if line is None:
        return None
    value = _value(field, text, line, train)
    if value is None:
        return None
    return Claim(field=field, value=value, path=claim["path"].strip(), line=claim["line"])


def numbers_in(text: str) -> set[float]:
    """Return the numbers in a text."""
    return {float(each.replace("_", "")) for each in _NUMBER.findall(text)}


def _value(field: str, text: str, line: str, train: str | float | None) -> str | float | None:
    words = {word.lower() for word in _WORD.findall(line)}
    if field == "task_type":
        return text if text in TASKS else None  # the model judges it; see `_taken` of the loop
    if field == "iter_type":
        return text if any(_speaks(words, each) for each in UNITS.get(text, ())) else None
    if not any(_speaks(words, each) for each in _SPEAKS_OF[field]):
        return None
    if field == "dataset_valid" and text == train:
        return train
    return _number(field, text, line) if field in NUMBERS else _name(text, line)


def _speaks(words: set[str], of: str) -> bool:
    return any(word == of or (len(of) > 3 and word.startswith(of)) for word in words)


def _number(field: str, text: str, line: str) -> float | None:
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text.replace("_", ""))
    whole = field == "lr" or value.is_integer()
    shown = value in numbers_in(line)
    return value if isfinite(value) and 0 < value <= _MOST[field] and whole and shown else None


def _name(text: str, line: str) -> str | None:
    """Return a name that the line holds as a whole, spelled as in the line. Case and punctuation inside the name do not count."""
    wanted = "".join(each.lower()[:1] for each in text if each.isalnum())
    if len(wanted) < 2 or not any(each.isalpha() for each in wanted):
        return None
    places = [place for place, each in enumerate(line) if each.isalnum()]
    letters = "".join(line[place].lower()[:1] for place in places)
    start = letters.find(wanted)
    while start >= 0:
        found = places[start : start + len(wanted)]
        first, end = found[0], found[-1] + 1
        # Up to three characters of punctuation may stand between two letters.
        is_near = all(after - before <= 4 for before, after in pairwise(found))
        if is_near and not _is_word(line[max(first - 1, 0) : first]) and not _is_word(line[end : end + 1]):
            return line[first:end]
        start = letters.find(wanted, start + 1)
    return None


def _is_word(text: str) -> bool:
    return text.isalnum() or text == "_"
