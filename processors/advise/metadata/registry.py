"""Names of `names.toml`: data sets, models and words with the task that they are evidence for, and names of settings."""

import functools
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_BETWEEN = re.compile(r"[\W_]+")
_LETTERS = re.compile(r"[A-Za-z]+")
_LONGEST = 300
"""Characters of a text that are searched for names. A limit against long texts."""


@dataclass(frozen=True, slots=True)
class KnownName:
    """A name in its usual spelling, and the task that it is evidence for."""

    name: str
    task: str


def plain(text: str) -> str:
    """Return a text's letters and digits, in lower case."""
    return _BETWEEN.sub("", text[:_LONGEST].lower())


def words(text: str) -> list[str]:
    """Return the words of an identifier, a path or a phrase, in lower case; digits are words of their own."""
    return [each.lower() for each in _WORD.findall(text[:_LONGEST])]


@functools.cache
def _sections() -> Mapping[str, Mapping[str, list[str]]]:
    return tomllib.loads(resources.files(__package__).joinpath("names.toml").read_text(encoding="utf-8"))


@functools.cache
def names(section: str, key: str) -> tuple[str, ...]:
    """Return a list of `names.toml`."""
    return tuple(_sections()[section][key])


TASKS = names("vocabulary", "tasks")


@functools.cache
def _index(section: str) -> tuple[Mapping[str, KnownName], int]:
    """Return the names of a section without case and punctuation, and the number of words of the longest."""
    found: dict[str, KnownName] = {}
    for task, listed in _sections()[section].items():
        for name in listed:
            found.setdefault(plain(name), KnownName(name, task))
    return found, max(len(words(each.name)) for each in found.values()) + 1


def known_name(section: str, text: str) -> KnownName | None:
    """Return the longest name of a section that `text` holds as whole words; null without one."""
    index, longest = _index(section)
    if plain(text) in index:
        return index[plain(text)]
    parts = words(text)
    for size in range(min(longest, len(parts)), 0, -1):
        for start in range(len(parts) - size + 1):
            found = index.get("".join(parts[start : start + size]))
            if found is not None and (size > 1 or _is_spelled(parts[start], found.name, text)):
                return found
    return None


def _is_spelled(word: str, name: str, text: str) -> bool:
    """Return whether a short name is spelled as usual or is a word of its own: `SAM` is not in `sample`, nor `LiT` in `Lit`."""
    return len(word) > 4 or name in text or any(each.lower() == word for each in _LETTERS.findall(text[:_LONGEST]))


def task_of_import(name: str) -> str | None:
    """Return the task of a library; null if it serves several."""
    package = name.partition(".")[0]
    return next((task for task, listed in _sections()["imports"].items() if package in listed), None)


def tasks_in(texts: Iterable[str]) -> Counter[str]:
    """Return the number of `texts` that hold a word that is evidence for a task, by task."""
    return Counter(found.task for text in texts if (found := known_name("words", text)) is not None)
