"""Comparisons of values, as far as they are known."""

import ast

from . import operations
from .enumerations import member_value
from .mappings import entries
from .values import (
    UNKNOWN,
    Class,
    Function,
    Instance,
    Term,
    Value,
    is_small,
)


def compared(operator: ast.cmpop, left: Value, right: Value) -> Value:  # noqa: PLR0911  # a list of cases
    """Return what a comparison of two values is; a term where that is not known."""
    left, right = member_value(left), member_value(right)
    if isinstance(operator, (ast.Is, ast.IsNot)):
        same = _identical(left, right)
        if same is None:
            return Term("operation", "Is", (left, right))
        return same if isinstance(operator, ast.Is) else not same
    if isinstance(operator, (ast.In, ast.NotIn)):
        found = _contains(right, left)
        if found is None:
            return Term("operation", "In", (left, right))
        return found if isinstance(operator, ast.In) else not found
    name = operations.operator_name(operator)
    if isinstance(left, (Function, Class, Instance)) or isinstance(right, (Function, Class, Instance)):
        return {"Eq": left is right, "NotEq": left is not right}.get(name, UNKNOWN)
    if name in {"Eq", "NotEq"} and isinstance(left, Term) and left.kind == "choice" and operations.is_scalar(right):
        found_all = {operations.truth(compared(operator, each, right)) for each in left.parts}
        return found_all.pop() if len(found_all) == 1 else Term("operation", name, (left, right))
    return operations.binary(name, left, right)


def _identical(left: Value, right: Value) -> bool | None:
    if left is None and right is None:
        return True
    if left is None or right is None:
        other = left if right is None else right
        if isinstance(other, Term):
            return False if other.kind in {"external", "call"} else None
        return False
    if isinstance(left, Term) or isinstance(right, Term):
        return True if left is right and left is not UNKNOWN else None
    return left is right or (isinstance(left, (bool, int, str)) and left == right)


def _contains(collection: Value, value: Value) -> bool | None:
    held_in = entries(collection)
    collection = collection if held_in is None else held_in
    if isinstance(value, Term) or not isinstance(collection, (str, list, tuple, dict, set)):
        listed = collection if isinstance(collection, (list, tuple, set, dict)) else ()
        held = {each: None for each in listed if isinstance(each, str)}
        return True if isinstance(value, Term) and operations.entry_within(held, value) is not None else None
    if isinstance(collection, str):
        return value in collection if isinstance(value, str) else None
    if any(isinstance(each, Term) for each in collection):
        return True if any(each == value for each in collection if operations.is_scalar(each)) else None
    if not is_small(value):
        return None
    try:
        return value in collection
    except TypeError:
        return None
