"""One scan that spares most texts the expressions themselves: which words a text must hold for one of them to match.

For the text between two numbers the scan tells whether it may give either of them a meaning (`telling`). What to look for is taken from
the grammar's expressions (`PATTERNS` of `names`, `units`, `fields` and `counters`), without what they forbid. So a scan may find too
much, never too little.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import re2

from . import counters, fields, names, units

_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
_MEMORY = 32 << 20
"""Bytes that RE2 may use for the automaton of all words."""
_FEW = 4
"""Characters of a class, and times that something is repeated, up to which each is told apart."""
_MOST = 16
"""Words that a run of such classes makes at most."""


class Literals:
    """Tells which of several expressions may match.

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
    """Yield `nodes`, groups and what is repeated a fixed number of times taken apart."""
    for op, args in nodes:
        if op is sre.SUBPATTERN:
            yield from _flat(list(args[-1]))
        elif op in _REPEATS and args[0] == args[1] <= _FEW:
            yield from list(_flat(list(args[2]))) * args[0]
        else:
            yield op, args


def _characters(op: Any, args: Any) -> frozenset[str]:
    """Return the characters, in small letters, of which one stands here; nothing where there are many."""
    if op is sre.LITERAL:
        return frozenset({chr(args).casefold()})
    if op is sre.IN and len(args) <= _FEW and all(kind is sre.LITERAL for kind, _ in args):
        return frozenset(chr(code).casefold() for _, code in args)
    return frozenset()


def _worth(words: frozenset[str]) -> tuple[int, int]:
    return min(sum(map(str.isalpha, word)) * _FEW + len(word) for word in words), -len(words)


_BEYOND = r"\x{80}-\x{10ffff}"
"""Characters that are not ASCII's: letters, digits and blanks are among them, and RE2 does not count them so."""
_CATEGORIES = {
    sre.CATEGORY_DIGIT: rf"\d{_BEYOND}",
    sre.CATEGORY_SPACE: rf"\s{_BEYOND}",
    sre.CATEGORY_WORD: rf"\w{_BEYOND}",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_NOT_WORD: r"\W",
}
_EDGE = "\x01"
"""What stands between texts that are searched together."""
_EDGES = {sre.AT_BEGINNING: f"(?:^|{_EDGE})", sre.AT_END: f"(?:$|{_EDGE})", sre.AT_BOUNDARY: ""}
_EDGES_OF_NAMES = {**_EDGES, sre.AT_BEGINNING: "(?:^|[^a-z])", sre.AT_END: "(?:$|[^a-z])"}
"""Where a name begins and ends in a text."""


def telling(texts: Sequence[str]) -> list[bool]:
    """Return for each text False where it names no field, is no unit and links no numbers, whatever stands around it."""
    return [_tells(text) for text in texts] if _tells(_EDGE.join(texts)) else [False] * len(texts)


@lru_cache(maxsize=4096)
def _tells(text: str) -> bool:
    small, spelled = text.lower(), names.words(text)
    if spelled != small:
        small = f"{small}{_EDGE}{spelled}"
    return _TELLING.Match(small.encode("utf-8", "replace")) is not None


def relaxed(pattern: str, edges: dict[Any, str] = _EDGES) -> str:
    """Return an expression of RE2 that finds all that `pattern` finds, and more: what it asks of the text around is left out."""
    nodes = list(parser.parse(pattern))
    end = ""
    if nodes and nodes[-1][0] is sre.ASSERT_NOT and [op for op, _ in nodes[-1][1][1]] == [sre.IN]:
        end = f"(?:$|{_EDGE}|{_class([(sre.NEGATE, None), *nodes[-1][1][1][0][1]])})"
    return "".join(_relaxed(nodes, edges)) + end


def _relaxed(nodes: Sequence[tuple[Any, Any]], edges: dict[Any, str]) -> Iterator[str]:
    for op, args in nodes:
        if op is sre.LITERAL:
            yield rf"\x{{{args:x}}}"
        elif op is sre.IN:
            yield _class(args)
        elif op is sre.AT:
            yield edges[args]
        elif op is sre.BRANCH:
            yield f"(?:{'|'.join(''.join(_relaxed(list(branch), edges)) for branch in args[1])})"
        elif op is sre.SUBPATTERN:
            yield f"(?:{''.join(_relaxed(list(args[-1]), edges))})"
        elif op in _REPEATS:
            most = "" if args[1] is sre.MAXREPEAT else args[1]
            yield f"(?:{''.join(_relaxed(list(args[2]), edges))}){{{args[0]},{most}}}"
        elif op not in (sre.ASSERT, sre.ASSERT_NOT):
            raise ValueError(f"expected an expression of what the grammar uses, got {op} in it")


def _class(members: Sequence[tuple[Any, Any]]) -> str:
    negated = members[0][0] is sre.NEGATE
    made = "[^" if negated else "["
    for op, args in members[negated:]:
        if op is sre.LITERAL:
            made += rf"\x{{{args:x}}}"
        elif op is sre.RANGE:
            made += rf"\x{{{args[0]:x}}}-\x{{{args[1]:x}}}"
        else:
            made += _CATEGORIES[args].removesuffix(_BEYOND if negated else "")
    return made + "]"


def _compiled() -> Any:
    of_texts = [relaxed(one) for one in (*units.PATTERNS, *fields.PATTERNS, *counters.PATTERNS)]
    of_names = [relaxed(one, _EDGES_OF_NAMES) for one in names.PATTERNS]
    options = re2.Options()
    options.max_mem = _MEMORY
    options.case_sensitive = False
    made = re2.Set.SearchSet(options)
    made.Add("|".join([*of_texts, *of_names]))
    made.Compile()
    return made


_TELLING = _compiled()
