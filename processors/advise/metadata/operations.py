"""Operators and methods on plain values, with bounded results.

A stranger's source may ask for `"a" * 10**12` or `10**10**10`; such results are unknown instead.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from .budget import step
from .values import UNKNOWN, Model, Range, Term, Value, alternatives, choice, is_small, walk

LONGEST_TEXT = 100_000
MOST_ITEMS = 10_000
CHARACTERS_A_STEP = 50
"""Characters of a text, or items of a collection, that cost as much as one step."""
_WIDE_FORMAT = re.compile(r"\d{4}|\*|\{[^{}]*\{")

_BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "BitOr": operator.or_,
    "BitAnd": operator.and_,
    "BitXor": operator.xor,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
}
_COMPARING = frozenset({"Eq", "NotEq", "Lt", "LtE", "Gt", "GtE"})
_FINDING = frozenset({"index", "count", "remove", "union", "intersection", "difference", "issubset", "issuperset"})
"""Methods that compare or hash what they are given."""
_UNARY: Mapping[str, Callable[[Any], Any]] = {"USub": operator.neg, "UAdd": operator.pos, "Invert": operator.invert}

_TEXT_METHODS = frozenset(
    [
        "capitalize",
        "casefold",
        "count",
        "endswith",
        "find",
        "format",
        "index",
        "isalnum",
        "isalpha",
        "isdigit",
        "islower",
        "isnumeric",
        "isupper",
        "join",
        "lower",
        "lstrip",
        "partition",
        "removeprefix",
        "removesuffix",
        "replace",
        "rfind",
        "rpartition",
        "rsplit",
        "rstrip",
        "split",
        "splitlines",
        "startswith",
        "strip",
        "title",
        "upper",
    ]
)
_LIST_METHODS = frozenset(
    ["append", "extend", "insert", "pop", "remove", "index", "count", "copy", "reverse", "clear", "sort"]
)
_MAP_METHODS = frozenset(["get", "keys", "values", "items", "update", "pop", "setdefault", "copy", "clear"])
_SET_METHODS = frozenset(
    ["add", "discard", "remove", "union", "update", "intersection", "difference", "copy", "issubset", "issuperset"]
)


def is_plain(value: Value) -> bool:
    """Whether `value` is known itself, whatever its parts are."""
    return value is None or isinstance(value, (str, bytes, int, float, list, tuple, dict, set))


def is_scalar(value: Value) -> bool:
    """Whether `value` is a number, a text, a truth value or null."""
    return value is None or isinstance(value, (str, int, float))


def binary(name: str, left: Value, right: Value) -> Value:
    """Return `left` (operator `name` of `ast`) `right`; a term where it is not known or too large."""
    if is_plain(left) and is_plain(right):
        if not _bounded(name, left, right):
            return UNKNOWN
        try:
            return _charged(_BINARY[name](left, right))
        except (TypeError, ValueError, ArithmeticError, KeyError, RecursionError):
            return UNKNOWN
    if name in {"Div", "FloorDiv"} and isinstance(left, Term) and left.kind == "operation" and left.name == "Mult":
        first, second = left.parts  # a length in epochs, given as steps and taken back: (n * steps) / steps
        if alike(second, right):
            return first
        if alike(first, right):
            return second
    return Term("operation", name, (left, right))


def _charged(value: Value) -> Value:
    """Count a new value's size as steps, so that the steps of a reading bound its memory, too."""
    step(len(value) // CHARACTERS_A_STEP if isinstance(value, (str, bytes, list, tuple, dict, set)) else 0)
    return value


def alike(left: Value, right: Value, depth: int = 0) -> bool:
    """Whether two values are the same expression, at most 8 levels deep."""
    step()
    if left is right:
        return True
    if not isinstance(left, Term) or not isinstance(right, Term) or depth > 8:
        return is_scalar(left) and is_scalar(right) and left == right
    same = (
        left.kind == right.kind
        and left.name == right.name
        and len(left.parts) == len(right.parts)
        and left.kind != "unknown"
    )
    return same and all(alike(one, other, depth + 1) for one, other in zip(left.parts, right.parts, strict=True))


def unary(name: str, value: Value) -> Value:
    """Return (operator `name` of `ast`) `value`."""
    if name == "Not":
        known = truth(value)
        return Term("operation", name, (value,)) if known is None else not known
    if isinstance(value, (int, float)):
        try:
            return _UNARY[name](value)
        except TypeError:
            return UNKNOWN
    return Term("operation", name, (value,))


def truth(value: Value, depth: int = 0) -> bool | None:
    """Return whether `value` counts as true; null where that is not known."""
    if isinstance(value, Term):
        step()
        if depth > 6:
            return None
        if value.kind == "choice":
            found = {truth(each, depth + 1) for each in value.parts}
            return found.pop() if len(found) == 1 else None
        if value.kind == "operation":
            return _operation_truth(value, depth + 1)
        return True if value.kind == "external" else None
    if isinstance(value, Range):
        return None
    return bool(value) if is_plain(value) else True


def _operation_truth(value: Term, depth: int) -> bool | None:
    if value.name in {"And", "Or"}:
        found = [truth(each, depth) for each in value.parts[:8]]
        decisive = value.name == "Or"
        return decisive if decisive in found else None
    if value.name == "Not":
        inner = truth(value.parts[0], depth)
        return None if inner is None else not inner
    return None


def settle(value: Value) -> Value:
    """Return `value` with each choice replaced by the first alternative that is known, and what follows computed."""
    return _settled(value, {}, 0)


def agreed_number(value: Value) -> float | None:
    """Return the number that `value` is; null where it is none, or its alternatives are different ones."""
    found = _settled(value, {}, 0, differing=False)
    return found if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def _settled(value: Value, done: dict[int, Value], depth: int, differing: bool = True) -> Value:
    if not isinstance(value, Term) or depth > 40:
        return value
    step()
    if id(value) not in done:
        done[id(value)] = value
        done[id(value)] = _settled_term(value, done, depth + 1, differing)
    return done[id(value)]


def _settled_term(value: Term, done: dict[int, Value], depth: int, differing: bool) -> Value:
    if value.kind == "choice":
        found = [_settled(each, done, depth, differing) for each in value.parts]
        numbers = {each for each in found if isinstance(each, (int, float)) and not isinstance(each, bool)}
        if not differing and len(numbers) > 1:
            return UNKNOWN
        return next((each for each in found if is_scalar(each) and each is not None), found[0])
    if value.kind == "operation" and len(value.parts) == 2 and value.name in _BINARY:
        left, right = (_settled(each, done, depth, differing) for each in value.parts)
        return binary(value.name, left, right) if is_scalar(left) and is_scalar(right) else value
    if value.kind == "call" and value.name in {"int", "float", "round", "ceil", "floor"} and len(value.parts) > 1:
        inner = _settled(value.parts[1], done, depth, differing)
        return convert(value.name, inner) if isinstance(inner, (int, float, str)) else value
    return value


def convert(kind: str, value: Value) -> Value:  # noqa: PLR0911  # a list of cases
    """Return `int(value)`, `float(value)`, `str(value)`, `bool(value)` and the roundings of `math`."""
    if isinstance(value, Term):
        if value.kind == "choice":
            return choice(*(convert(kind, each) for each in value.parts))
        return Term("call", kind, (Term("external", kind), value))
    try:
        match kind:
            case "int":
                return int(value)
            case "float":
                return float(value)
            case "str":
                return str(value) if is_scalar(value) else UNKNOWN
            case "bool":
                known = truth(value)
                return UNKNOWN if known is None else known
            case "ceil":
                return -int(-value // 1)
            case "floor":
                return int(value // 1)
            case _:
                return round(value)
    except (TypeError, ValueError, ArithmeticError):
        return UNKNOWN


def method(value: Value, name: str, arguments: tuple[Value, ...], keywords: Mapping[str, Value]) -> Value:
    """Return what a method of a plain value gives; a term where that is not known, or the method is not one of a few."""
    allowed = _methods_of(value)
    if name not in allowed:
        return UNKNOWN
    if isinstance(value, str):
        return _text_method(value, name, arguments, keywords)
    if isinstance(value, dict) and name in {"get", "pop", "setdefault"} and arguments and not is_scalar(arguments[0]):
        return choice(*list(value.values())[:8], *arguments[1:2]) if value else UNKNOWN
    if len(value) > MOST_ITEMS or name == "sort" or (name in _FINDING and not all(map(is_small, arguments))):
        return UNKNOWN
    try:
        found = getattr(value, name)(*arguments, **keywords)
    except (TypeError, ValueError, KeyError, IndexError, RuntimeError):
        return UNKNOWN
    return list(found) if isinstance(value, dict) and name in {"keys", "values", "items"} else found


def as_key(key: Value) -> Value:
    """Return a key of a dictionary; a builtin type as a text of its own, so that `{int: …}[type(1)]` is found."""
    return f"\0{key.name}" if isinstance(key, Model) else key


def item(value: Value, key: Value) -> Value:  # noqa: PLR0911  # a list of cases
    """Return `value[key]`; a term where it is not known."""
    if isinstance(value, Term) and value.kind == "choice":
        return choice(*(item(each, key) for each in value.parts))
    if isinstance(key, Term) and isinstance(value, (dict, list, tuple)):
        if key.kind == "choice":
            return choice(*(item(value, each) for each in alternatives(key)))
        meant = entry_within(value, key)
        if meant is not None and isinstance(value, dict):
            return value[meant]
        found = list(value.values()) if isinstance(value, dict) else list(value)
        return choice(*found[:8]) if found else UNKNOWN
    if isinstance(value, (str, list, tuple, dict)) and is_small(key):
        try:
            return value[key]
        except (KeyError, IndexError, TypeError, ValueError):
            return UNKNOWN
    return Term("item", parts=(value, key))


def entry_within(value: Value, key: Term) -> str | None:
    """Return the one key of a dictionary that an unknown key is made from, as `Name("a").id` is of "a"; null without one."""
    if not isinstance(value, dict) or key.kind == "unknown":
        return None
    inside = {each for each in walk(key, 20) if isinstance(each, str) and each in value}
    return inside.pop() if len(inside) == 1 else None


def _methods_of(value: Value) -> frozenset[str]:
    for kind, methods in ((str, _TEXT_METHODS), (list, _LIST_METHODS), (dict, _MAP_METHODS), (set, _SET_METHODS)):
        if isinstance(value, kind):
            return methods
    return frozenset({"index", "count"}) if isinstance(value, tuple) else frozenset()


def _text_method(value: str, name: str, arguments: tuple[Value, ...], keywords: Mapping[str, Value]) -> Value:
    if name == "join":
        return _joined(value, arguments)
    if name == "format" and _WIDE_FORMAT.search(value):
        return UNKNOWN
    given = [*arguments, *keywords.values()]
    if not all(
        is_scalar(each) or (isinstance(each, tuple) and all(isinstance(x, str) for x in each)) for each in given
    ):
        return Term("operation", name, (value, *given))
    size = len(value) * max((len(each) for each in given if isinstance(each, str)), default=1)
    if size > LONGEST_TEXT:
        return UNKNOWN
    try:
        return _charged(getattr(value, name)(*arguments, **keywords))
    except (TypeError, ValueError, KeyError, IndexError, AttributeError):
        return UNKNOWN


def _joined(value: str, arguments: tuple[Value, ...]) -> Value:
    items = arguments[0] if len(arguments) == 1 else UNKNOWN
    if not isinstance(items, (list, tuple)) or not all(isinstance(each, str) for each in items):
        return Term("operation", "join", (value, *arguments))
    if sum(map(len, items)) + len(value) * len(items) > LONGEST_TEXT:
        return UNKNOWN
    return _charged(value.join(items))


def _bounded(name: str, left: Value, right: Value) -> bool:
    sizes = [len(each) for each in (left, right) if isinstance(each, (str, bytes, list, tuple))]
    if name == "Mult" and sizes:
        times = right if isinstance(right, int) else left
        return isinstance(times, int) and max(sizes) * max(times, 0) <= MOST_ITEMS
    if name in _COMPARING:
        return is_small(left) or is_small(right)  # the comparison ends where the smaller one does
    if name == "Add" and sum(sizes) > LONGEST_TEXT:
        return False
    if name == "Mod" and isinstance(left, str):
        return not _WIDE_FORMAT.search(left) and is_scalar(right)
    if name in {"Pow", "LShift"}:
        return all(isinstance(each, (int, float)) and abs(each) <= 1_024 for each in (left, right))
    return all(not isinstance(each, int) or each.bit_length() <= 4_096 for each in (left, right))


def operator_name(node: ast.operator | ast.cmpop | ast.unaryop) -> str:
    """Return the name of an operator's class."""
    return type(node).__name__
