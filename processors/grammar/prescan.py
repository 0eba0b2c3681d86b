"""One scan that spares most texts the expressions themselves: the words that a text must hold for one of them to match.

The scan may find too much, never too little.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import re2

_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
_MEMORY = 32 << 20
"""Bytes that RE2 may use for the automaton of all words."""
_FEW = 4
"""Characters of a class, and repetitions, up to which each is expanded."""
_MOST = 16
"""Maximum number of words that a run of such classes is expanded to."""


class Literals:
    """Finds which of several expressions may match.

    Args:
        patterns: The expressions. One that needs no word may match every text.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        options = re2.Options()
        options.max_mem = _MEMORY
        self._words = re2.Set.SearchSet(options)
        for pattern in patterns:
            self._words.Add("|".join(map(re.escape, sorted(literals(pattern)))))
        self._words.Compile()

    def likely(self, text: str) -> list[int]:
        """Return the numbers of the expressions that may match `text` or a part of it, lowest first."""
        return sorted(self._words.Match(text.casefold().encode("utf-8", "replace")) or ())


class Prescan:
    """`Literals` of compiled expressions, which it returns themselves."""

    def __init__(self, expressions: Sequence[re.Pattern[str]]) -> None:
        self._expressions = tuple(expressions)
        self._literals = Literals(one.pattern for one in expressions)

    def likely(self, text: str) -> list[re.Pattern[str]]:
        """Return the expressions that may match `text` or a part of it."""
        return [self._expressions[number] for number in self._literals.likely(text)]


def literals(pattern: str) -> frozenset[str]:
    """Return words, in small letters, of which every text that `pattern` matches holds one; nothing where there are none such."""
    return _of(list(parser.parse(pattern.replace("(?i)", ""))))  # RE2 allows it anywhere; here case makes no difference


def _of(nodes: Sequence[tuple[Any, Any]]) -> frozenset[str]:
    """Return the best of the sets of words that parts of a sequence need: that whose shortest word has most letters."""
    found: list[frozenset[str]] = []
    runs = frozenset({""})
    for op, args in _flat(nodes):
        here = _characters(op, args)
        if here and len(runs) * len(here) <= _MOST:
            runs = frozenset(run + each for run in runs for each in here)
            continue
        found.append(runs)
        runs = here or frozenset({""})
        if op is sre.ATOMIC_GROUP:
            found.append(_of(list(args)))
        elif op in _REPEATS and args[0]:
            found.append(_of(list(args[2])))
        elif op is sre.BRANCH:
            branches = [_of(list(branch)) for branch in args[1]]
            found.append(frozenset().union(*branches) if all(branches) else frozenset())
    found.append(runs)
    return max((words for words in found if words and "" not in words), key=_worth, default=frozenset())


def _flat(nodes: Sequence[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
    """Yield `nodes`, with groups and fixed repetitions expanded."""
    for op, args in nodes:
        if op is sre.SUBPATTERN:
            yield from _flat(list(args[-1]))
        elif op in _REPEATS and args[0] == args[1] <= _FEW:
            yield from list(_flat(list(args[2]))) * args[0]
        else:
            yield op, args


def _characters(op: Any, args: Any) -> frozenset[str]:
    """Return the characters, in small letters, of which one is here; nothing where there are many."""
    if op is sre.LITERAL:
        return frozenset({chr(args).casefold()})
    if op is sre.IN and len(args) <= _FEW and all(kind is sre.LITERAL for kind, _ in args):
        return frozenset(chr(code).casefold() for _, code in args)
    return frozenset()


def _worth(words: frozenset[str]) -> tuple[int, int]:
    return min(sum(map(str.isalpha, word)) * _FEW + len(word) for word in words), -len(words)
