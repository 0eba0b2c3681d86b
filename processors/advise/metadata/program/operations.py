"""Operators and methods of plain values, with bounded results.

A foreign program may ask for `"a" * 10**12` or `10**10**10`. Such results are unknown.
"""

import operator
import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..budget import step
from .values import UNKNOWN, Class, Function, Instance, Term, Value, choice, is_number, is_plain, is_scalar, names_in

MOST_ITEMS = 10_000
"""Maximum number of items of a collection that an operation reads or builds. A limit against programs that use up memory."""
LONGEST_TEXT = 100_000
"""Maximum characters of a text that an operation reads or builds. A limit against programs that use up memory."""
_UNITS_A_STEP = 50
"""Characters of a text, or items of a collection, that cost as much as one step."""
_WIDE_FORMAT = re.compile(r"\d{4}|\*|\{[^{}]*\{")
_OPERATORS = (
    "Add:add Sub:sub Mult:mul Div:truediv FloorDiv:floordiv Mod:mod Pow:pow Eq:eq NotEq:ne Lt:lt LtE:le Gt:gt GtE:ge"
)
_BINARY = {name: getattr(operator, each) for name, _, each in (pair.partition(":") for pair in _OPERATORS.split())}
_TEXT_METHODS = (
    "format join lower lstrip partition removeprefix removesuffix replace rpartition rsplit rstrip split strip upper"
)
_METHODS: Mapping[type, frozenset[str]] = {
    str: frozenset(("startswith", "endswith", *_TEXT_METHODS.split())),
    list: frozenset({"append", "extend", "insert", "pop"}),
    dict: frozenset({"get", "keys", "values", "items", "update", "pop", "setdefault"}),
}
_CONVERSIONS: Mapping[str, Callable[[Any], Any]] = {
    "int": int,
    "float": float,
    "round": round,
    "floor": int,
    "ceil": lambda value: -int(-value // 1),
}


def binary(name: str, left: Value, right: Value) -> Value:
    """Return `left` (operator `name` of `ast`) `right`; a term if it is not known, `UNKNOWN` if it is too large."""
    if name == "Div" and (isinstance(left, str) or is_join(left)):
        return join_paths(left, right)
    if is_plain(left) and is_plain(right):
        try:
            return charged(_BINARY[name](left, right)) if _is_bounded(name, left, right) else UNKNOWN
        except (TypeError, ValueError, ArithmeticError, KeyError):
            return UNKNOWN
    if name in {"Div", "FloorDiv"} and isinstance(left, Term) and left.name == "Mult":
        first, second = left.parts  # a length in epochs, converted to steps and back: (n * steps) / steps
        if _is_same(first, right) or _is_same(second, right):
            return first if _is_same(second, right) else second
    return Term("operation", name, (left, right))


def is_join(value: Value) -> bool:
    """Return whether a value is a text or a path with unknown parts."""
    return isinstance(value, Term) and (value.kind, value.name) == ("operation", "join")


def join_paths(*parts: Value) -> Value:
    """Return the path of several parts; a term if one of them is unknown."""
    found = [settle(each) for each in parts]
    known = all(isinstance(each, str) for each in found) and found
    return charged(posixpath.join(*found)[:LONGEST_TEXT]) if known else Term("operation", "join", tuple(found))


def charged(value: Value) -> Value:
    """Count a new value's size as steps, so that the steps also bound the memory."""
    step(1 + len(value) // _UNITS_A_STEP if isinstance(value, (str, list, tuple, dict)) else 0)
    return value


def compare(name: str, left: Value, right: Value) -> Value:
    """Return the result of a comparison; a term if it is not known."""
    known: bool | None = None
    if name in {"Is", "IsNot"}:
        known = None if isinstance(left, Term) and left.kind not in {"external", "call"} else left is right
    elif name in {"In", "NotIn"}:
        known = _contains(names_in(right), left)
    elif isinstance(left, (Function, Class, Instance)):
        known = left is right
    elif isinstance(left, Term) and left.kind == "choice" and is_scalar(right):
        found = {truth(binary(name, each, right)) for each in left.parts}
        return found.pop() if len(found) == 1 and None not in found else Term("operation", name, (left, right))
    else:
        return binary(name, left, right)
    return Term("operation", name, (left, right)) if known is None else known is ("Not" not in name)


def truth(value: Value, depth: int = 0) -> bool | None:
    """Return whether `value` counts as true; null if that is not known."""
    if not isinstance(value, Term):
        return bool(value) if is_plain(value) else True
    step()
    inner = [truth(each, depth + 1) for each in value.parts[:8]] if depth <= 6 else [None]
    if value.kind == "choice":
        return inner[0] if len(set(inner)) == 1 else None
    return True if value.kind == "external" or (value.name == "Or" and True in inner) else None


def settle(value: Value, *, agreed: bool = False, depth: int = 0) -> Value:
    """Return `value` with each choice replaced by its first known alternative, and the operations on it computed.

    With `agreed`, a choice between different numbers is `UNKNOWN`.
    """
    if not isinstance(value, Term) or depth > 12:
        return value
    step()
    parts = [settle(each, agreed=agreed, depth=depth + 1) for each in value.parts[:8]]
    if value.kind == "choice":
        differs = agreed and len({each for each in parts if is_number(each)}) > 1
        return UNKNOWN if differs else next((each for each in parts if is_scalar(each) and each is not None), parts[0])
    if value.kind == "operation" and len(parts) == 2 and value.name in _BINARY and all(map(is_scalar, parts)):
        return binary(value.name, *parts)
    converts = value.name in _CONVERSIONS and len(parts) > 1 and is_scalar(parts[1])
    return convert(value.name, parts[1]) if converts else value


def agreed_number(value: Value) -> float | None:
    """Return the number that `value` is; null if it is none, or may be one of several."""
    found = settle(value, agreed=True)
    return found if is_number(found) else None


def convert(name: str, value: Value) -> Value:
    """Return `int(value)`, `float(value)` and the roundings of `math`; `UNKNOWN` if Python refuses."""
    try:
        return _CONVERSIONS[name](value) if len(str(value)) < 400 else UNKNOWN
    except (TypeError, ValueError, ArithmeticError):
        return UNKNOWN


def method(value: Value, name: str, *arguments: Value, **keywords: Value) -> Value:
    """Return the result of a method of a plain value; `UNKNOWN` if it is not one of a few."""
    if name not in next((methods for kind, methods in _METHODS.items() if isinstance(value, kind)), ()):
        return UNKNOWN
    given = [
        each
        for one in (*arguments, *keywords.values())
        for each in (one if is_plain(one) and not is_scalar(one) else (one,))
    ]
    size = len(value) + sum(len(each) if isinstance(each, str) else 1 for each in given)
    if isinstance(value, str):
        if not all(map(is_scalar, given)):
            return Term("operation", "join", (value, *given[:30]))
        wide = name == "format" and _WIDE_FORMAT.search(value) is not None
        size *= 1 + len(given) if name in {"join", "replace"} else 1
    else:
        wide = not is_scalar(arguments[0]) if name in {"get", "pop", "setdefault"} and arguments else size > MOST_ITEMS
    if wide or size > LONGEST_TEXT:
        return choice(*list(value.values())[:8], *arguments[1:2]) if name == "get" else UNKNOWN
    found = charged(getattr(value, name)(*arguments, **keywords))
    return list(found) if name in {"keys", "values", "items"} else found


def item(value: Value, key: Value) -> Value:
    """Return `value[key]`; a choice or a term if it is not known."""
    if isinstance(value, Term) and value.kind == "choice":
        return choice(*(item(each, key) for each in value.parts))
    if isinstance(key, Term) and isinstance(value, (dict, list, tuple)):
        return choice(*list(value.values() if isinstance(value, dict) else value)[:8])
    if isinstance(value, (str, list, tuple, dict)) and (is_scalar(key) or isinstance(key, slice)):
        try:
            return value[key]
        except (KeyError, IndexError, TypeError, ValueError):
            return UNKNOWN
    return Term("item", parts=(value, key))


def _is_bounded(name: str, left: Value, right: Value) -> bool:
    sizes = [len(each) for each in (left, right) if isinstance(each, (str, list, tuple))]
    if name == "Mult" and sizes:
        times = right if isinstance(right, int) else left
        return isinstance(times, int) and max(sizes) * max(times, 0) <= MOST_ITEMS
    if name == "Mod" and isinstance(left, str):
        return not _WIDE_FORMAT.search(left) and is_scalar(right)
    if name == "Pow":
        return all(is_number(each) and abs(each) <= 1_024 for each in (left, right))
    flat = name == "Add" or all(is_scalar(each) or all(map(is_scalar, each)) for each in (left, right))
    small = all(not isinstance(each, int) or each.bit_length() <= 4_096 for each in (left, right))
    return flat and small and sum(sizes) <= LONGEST_TEXT


def _is_same(left: Value, right: Value, depth: int = 0) -> bool:
    """Return whether two values are the same expression, at most 8 levels deep."""
    step()
    if left is right or not isinstance(left, Term) or not isinstance(right, Term) or depth > 8:
        return left is right or (is_scalar(left) and is_scalar(right) and bool(left == right))
    same = left.kind != "unknown" and (left.kind, left.name, len(left.parts)) == (
        right.kind,
        right.name,
        len(right.parts),
    )
    return same and all(_is_same(*both, depth + 1) for both in zip(left.parts, right.parts, strict=True))


def _contains(collection: Value, value: Value) -> bool | None:
    if not is_scalar(value) or not isinstance(collection, (str, list, tuple, dict)):
        return None
    if isinstance(collection, str):
        return value in collection if isinstance(value, str) else None
    found = any(is_scalar(each) and each == value for each in collection)
    return None if not found and any(isinstance(each, Term) for each in collection) else found
