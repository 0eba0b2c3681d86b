"""Names that the field knows: data sets, architectures, algorithms, and the tasks that they speak for."""

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

TASKS = (
    "language-modelling",
    "text-classification",
    "translation",
    "speech-recognition",
    "image-classification",
    "object-detection",
    "segmentation",
    "image-generation",
    "reinforcement-learning",
    "recommendation",
    "graph",
    "time-series",
    "tabular",
    "multimodal",
    "other",
)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_BETWEEN = re.compile(r"[\W_]+")
_LETTERS = re.compile(r"[A-Za-z]+")
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class KnownName:
    """A name in its usual spelling, and the task that it speaks for."""

    name: str
    task: str


def listed(text: str) -> tuple[str, ...]:
    """Return the words of a list that is written as a text."""
    return tuple(text.split())


def plain(text: str) -> str:
    """Return a text's letters and digits, in lower case."""
    return _BETWEEN.sub("", text[:_LONGEST].lower())


def words(text: str) -> list[str]:
    """Return the words of an identifier, a path or a phrase, in lower case; digits are words of their own."""
    return [each.lower() for each in _WORD.findall(text[:_LONGEST])]


@functools.cache
def _names() -> Mapping[str, Mapping[str, list[str]]]:
    text = resources.files(__package__).joinpath("names.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@functools.cache
def _index(kind: str) -> tuple[Mapping[str, KnownName], int]:
    found: dict[str, KnownName] = {}
    for task, names in _names()[kind].items():
        for name in names:
            found.setdefault(plain(name), KnownName(name, task))
    return found, max(len(words(each.name)) for each in found.values()) + 1


def known(kind: str, text: str) -> KnownName | None:
    """Return the longest known name of `kind` (`datasets`, `models`, `words`) that `text` holds as whole words; null without one."""
    return next(all_known(kind, text), None)


def all_known(kind: str, text: str) -> Iterator[KnownName]:
    """Yield the known names of `kind` that `text` holds, the longest first."""
    index, longest = _index(kind)
    if plain(text) in index:
        yield index[plain(text)]
    each = words(text)
    for size in range(min(longest, len(each)), 0, -1):
        for start in range(len(each) - size + 1):
            found = index.get("".join(each[start : start + size]))
            if found is not None and (size > 1 or _is_spelled(each[start], found.name, text)):
                yield found


def _is_spelled(word: str, name: str, text: str) -> bool:
    """Whether a short name stands in a text as it is usually written, or alone: `SAM` is no `sample` and `Lit` no `LiT`."""
    return len(word) > 4 or name in text or any(each.lower() == word for each in _LETTERS.findall(text[:_LONGEST]))


def task_of_import(name: str) -> str | None:
    """Return the task that a library is made for; null where it serves several."""
    return _by_import().get(name.partition(".")[0])


@functools.cache
def _by_import() -> Mapping[str, str]:
    return {name: task for task, names in _names()["imports"].items() for name in names}


def task_of_metric(name: str) -> str | None:
    """Return the task that a metric by this name measures; null where it serves several."""
    return next((task for task, names in _names()["metrics"].items() if name.lower() in names), None)


def tasks_in(texts: Sequence[str]) -> dict[str, int]:
    """Return how many of `texts` hold a word that speaks for a task, by task."""
    found: dict[str, int] = {}
    for text in texts:
        name = known("words", text)
        if name is not None:
            found[name.task] = found.get(name.task, 0) + 1
    return found
