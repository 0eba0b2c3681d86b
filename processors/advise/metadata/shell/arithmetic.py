"""Arithmetic of the shell: whole numbers, variables by their bare names (Bash manual, "Shell Arithmetic")."""

import ast
import re
from collections.abc import Mapping

from .. import operations
from .state import Shell

_REFERENCE = re.compile(r"\$\{?(\w+)\}?")
_OPERATORS: Mapping[str, str] = {"&&": " and ", "||": " or "}
_BASE = re.compile(r"\b10#")
_LEADING_ZEROS = re.compile(r"\b0+(?=\d)")
_NOT = re.compile(r"!(?!=)")
LONGEST = 500


def evaluate(shell: Shell, text: str, depth: int = 0) -> int | None:
    """Return what an arithmetic expression is; null where it is not known. Assignments take effect."""
    text = text.strip()[:LONGEST]
    assigned = re.match(r"([A-Za-z_]\w*)\s*([-+*/%]?)=(?!=)(.*)", text, re.DOTALL)
    if assigned:
        name, operator, rest = assigned.groups()
        value = evaluate(shell, f"{name} {operator} ({rest})" if operator else rest, depth + 1) if depth < 8 else None
        shell.set(name, "" if value is None else str(value))
        return value
    stepped = re.fullmatch(r"(?:(\+\+|--)\s*)?([A-Za-z_]\w*)\s*(\+\+|--)?", text)
    if stepped and (stepped[1] or stepped[3]):
        before = evaluate(shell, stepped[2], depth + 1) or 0
        after = before + (1 if "+" in (stepped[1] or stepped[3]) else -1)
        shell.set(stepped[2], str(after))
        return after if stepped[1] else before
    for operator, name in _OPERATORS.items():
        text = text.replace(operator, name)
    text = _LEADING_ZEROS.sub("", _BASE.sub("", _REFERENCE.sub(r"\1", text)))
    try:
        parsed = ast.parse(_NOT.sub(" not ", text).strip(), mode="eval").body
        return _value(shell, parsed, depth)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _value(shell: Shell, node: ast.expr, depth: int) -> int | None:  # noqa: PLR0911  # a list of cases
    if depth > 20:
        return None
    if isinstance(node, ast.Constant):
        return int(node.value) if isinstance(node.value, (int, float)) else None
    if isinstance(node, ast.Name):
        text = shell.text(node.id).strip()
        return 0 if not text else int(text) if text.lstrip("-").isdigit() else evaluate(shell, text, depth + 4)
    if isinstance(node, ast.UnaryOp):
        inner = _value(shell, node.operand, depth + 1)
        found = None if inner is None else operations.unary(operations.operator_name(node.op), inner)
        return int(found) if isinstance(found, int) else None
    if isinstance(node, ast.BinOp):
        name = {"Div": "FloorDiv"}.get(operations.operator_name(node.op), operations.operator_name(node.op))
        return _combined(name, _value(shell, node.left, depth + 1), _value(shell, node.right, depth + 1))
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        name = operations.operator_name(node.ops[0])
        return _combined(name, _value(shell, node.left, depth + 1), _value(shell, node.comparators[0], depth + 1))
    if isinstance(node, ast.BoolOp):
        known = [_value(shell, each, depth + 1) for each in node.values]
        if None in known:
            return None
        return int(all(known) if isinstance(node.op, ast.And) else any(known))
    return None


def _combined(name: str, left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return None
    found = operations.binary(name, left, right)
    return int(found) if isinstance(found, int) else None
