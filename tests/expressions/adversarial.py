"""Texts on which an expression does as much work as it can: each of its repeats pumped, and then a character that fails."""

import functools
import itertools
import random
import re
import re._constants as sre
import re._parser as parser
from collections.abc import Iterator, Sequence

_LONG = 20
"""Repeats that may not go on for so long cost little."""
_FAILING = ("\x00", "!", "1 a")
_SAMPLES = 4
_ALPHABET = " 1a-./:,=|[]A_%\"'()#\\\u0431"

Node = tuple[object, object]


def attacks(pattern: re.Pattern[str], *lengths: int) -> Iterator[str]:
    """Yield texts of about each of `lengths` characters: what leads to a repeat, the repeat, and what makes it fail."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE if "(?a" in pattern.pattern else pattern.flags)
    chance = random.Random(pattern.pattern)
    pairs = {
        (_sample(prefix, chance), _sample(body, chance) * 2): None
        for prefix, body in _repeats(list(tree), [], chance)
        for _ in range(_SAMPLES)
    }
    for length, (lead, pump), tail in itertools.product(lengths, pairs, _FAILING):
        if pump:
            yield lead + pump * max(1, (length - len(lead) - len(tail)) // len(pump)) + tail


def samples(pattern: str, count: int) -> Iterator[str]:
    """Yield `count` texts that `pattern` might match."""
    tree, chance = parser.parse(pattern), random.Random(pattern)
    for _ in range(count):
        yield _sample(list(tree), chance)


def _repeats(
    nodes: Sequence[Node], before: list[Node], chance: random.Random
) -> Iterator[tuple[list[Node], list[Node]]]:
    """Yield (what stands before, what is repeated) for each long repeat within `nodes`; neighbours are pumped together too."""
    for index, (op, args) in enumerate(nodes):
        lead = [*before, *nodes[:index]]
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            _, most, inner = args  # type: ignore[misc]
            if most >= _LONG:
                yield lead, list(inner)
                yield [], list(inner)
                yield [], [*inner, *nodes[index + 1 : index + 3]]
                yield lead, [*nodes[max(0, index - 2) : index], *inner]
            yield from _repeats(list(inner), lead, chance)
        elif op is sre.SUBPATTERN:
            yield from _repeats(list(args[-1]), lead, chance)  # type: ignore[index]
        elif op is sre.BRANCH:
            for branch in args[1]:  # type: ignore[index]
                yield from _repeats(list(branch), lead, chance)
        elif op is sre.ATOMIC_GROUP:
            yield from _repeats(list(args), lead, chance)  # type: ignore[call-overload]
        elif op in (sre.ASSERT, sre.ASSERT_NOT):
            yield from _repeats(list(args[1]), lead, chance)  # type: ignore[index]


def _sample(nodes: Sequence[Node], chance: random.Random) -> str:  # a case each
    """Return a text that `nodes` might match."""
    made = ""
    for op, args in nodes:
        if op is sre.LITERAL:
            made += chr(args)  # type: ignore[arg-type]
        elif op in (sre.NOT_LITERAL, sre.IN, sre.ANY):
            made += _one_of(op, args, chance)
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            least, most, inner = args  # type: ignore[misc]
            made += "".join(_sample(list(inner), chance) for _ in range(min(most, max(least, chance.randrange(2)))))
        elif op is sre.SUBPATTERN:
            made += _sample(list(args[-1]), chance)  # type: ignore[index]
        elif op is sre.ATOMIC_GROUP:
            made += _sample(list(args), chance)  # type: ignore[call-overload]
        elif op is sre.BRANCH:
            made += _sample(list(chance.choice(args[1])), chance)  # type: ignore[index]
    return made


def _one_of(op: object, args: object, chance: random.Random) -> str:
    candidates = _candidates(_class(op, args))
    return chance.choice(candidates) if candidates else "a"


@functools.cache
def _candidates(wanted: str) -> str:
    """Return a few characters of a class."""
    matching = re.compile(wanted, re.DOTALL)
    usual = "".join(each for each in _ALPHABET if matching.match(each))
    return usual[:6] or "".join(chr(code) for code in range(32, 0x3000) if matching.match(chr(code)))[:6]


def _class(op: object, args: object) -> str:
    """Return the expression of one character."""
    if op is sre.ANY:
        return "."
    if op is sre.NOT_LITERAL:
        return f"[^{re.escape(chr(args))}]"  # type: ignore[arg-type]
    parts, negated = "", ""
    for kind, value in args:  # type: ignore[attr-defined]
        if kind is sre.NEGATE:
            negated = "^"
        elif kind is sre.LITERAL:
            parts += re.escape(chr(value))
        elif kind is sre.RANGE:
            parts += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        else:
            parts += _CATEGORIES[value]
    return f"[{negated}{parts}]"


_CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}
