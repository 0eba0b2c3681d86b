"""Similarity of two command lines: the same program with other hyper-parameters or another length."""

import re
import shlex
from collections.abc import Iterator
from functools import lru_cache

_LONGEST = 4000
"""Characters of a command that are read. A limit against very long commands."""
_NUMBER = re.compile(r"[-+]?(?:\d+(?:[.,_]\d*)*|\.\d+)(?:e[-+]?\d+)?[kmgKMG]?")
_OPTION = re.compile(r"(-{0,2}[+~]{0,2}[A-Za-z_][\w.\-/]*)=(.*)", re.DOTALL)
_LENGTH = re.compile(r"(?:^|[-_./])(?:epochs?|steps|iters|iterations|updates|n_?iter)$")
_NOT_LENGTH = re.compile(r"warm|save|log|eval|valid|every|interval|accum|decay|patience|print|freq|sav")


@lru_cache(maxsize=4096)
def fingerprint(command: str) -> str:
    """Return a command line without the values of its settings: `python train.py --lr 0.1 model=vit` is that of any `lr` and `model`.

    Numbers and values after `=` are removed. A word after an option is kept, as it may be the option's value or the program.
    """
    return " ".join(_mask(word) for word in _words(command))


def scale(now: str, before: str) -> float:
    """Return how much longer `now` trains than `before`, by a setting such as `--epochs` that both name; 1 where none differs."""
    lengths = dict(_lengths(before))
    ratios = {value / lengths[name] for name, value in _lengths(now) if lengths.get(name)}
    return ratios.pop() if len(ratios) == 1 else 1.0


def _words(command: str) -> list[str]:
    command = command[:_LONGEST]
    try:
        return shlex.split(command)
    except ValueError:  # a quotation mark that is not closed
        return command.split()


def _mask(word: str) -> str:
    if option := _OPTION.fullmatch(word):
        return f"{option[1]}="
    return "0" if _NUMBER.fullmatch(word) else word


def _lengths(command: str) -> Iterator[tuple[str, float]]:
    words = _words(command)
    for place, word in enumerate(words):
        option = _OPTION.fullmatch(word)
        name = (option[1] if option else word).lower()
        value = option[2] if option else (words[place + 1] if word.startswith("-") and place + 1 < len(words) else "")
        if (
            value.isdecimal()
            and len(value) < 16
            and int(value)
            and _LENGTH.search(name)
            and not _NOT_LENGTH.search(name)
        ):
            yield name.lstrip("-+~"), float(value)
