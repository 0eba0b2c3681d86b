"""Expressions and their values, and what is assigned to."""

import ast
from collections.abc import Callable, Mapping
from typing import Any

from ..budget import step
from . import operations
from .calls import attribute, set_attribute
from .modules import parse
from .trace import Loop
from .values import UNKNOWN, Function, Handler, Program, Scope, Term, Value, choice, is_scalar, names_in

DEEPEST = 400
"""Maximum depth of evaluation. A limit against nested expressions that would raise `RecursionError`."""
MOST_ELEMENTS = 256
"""Elements of a collection that are followed one by one. A limit against long collections."""
_OF_SCOPES = {"globals", "locals", "vars", "super", "exec"}
"""Functions that depend on the scope of their call."""


def evaluate(program: Program, node: ast.expr, scope: Scope) -> Value:
    """Return the value of an expression; `UNKNOWN` if it is nested too deeply."""
    step()
    handler = _HANDLERS.get(type(node))
    if handler is None or program.depth > DEEPEST:
        return UNKNOWN
    program.depth += 1
    try:
        return handler(program, node, scope)
    finally:
        program.depth -= 1


def elements(value: Value) -> tuple[list[Value], bool]:
    """Return the elements of a value, and whether they are known; one unknown element if they are not."""
    if isinstance(value, Term) and value.kind == "choice":
        value = next((each for each in value.parts if isinstance(each, (list, tuple, dict))), value)
    known = isinstance(value, (list, tuple, dict))
    return list(value)[:MOST_ELEMENTS] if known else [Term("item", "element", (value,))], known


def source(node: ast.AST) -> str:
    """Return a node as source, cut to 300 characters; empty if it is nested too deeply."""
    try:
        return ast.unparse(node)[:300]
    except (RecursionError, ValueError):
        return ""


def function_of(program: Program, name: str, node: Any, scope: Scope, decorators: tuple[Value, ...] = ()) -> Function:
    """Return a function with the defaults of its parameters. A method does not see the names of its class."""
    places = [*node.args.posonlyargs, *node.args.args]
    pairs = [*zip(places[len(places) - len(node.args.defaults) :], node.args.defaults, strict=True)]
    pairs += [pair for pair in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if pair[1] is not None]
    defaults = {each.arg: evaluate(program, default, scope) for each, default in pairs}
    in_class = scope.owner is not None and scope.names is scope.owner.names
    return Function(name, node, scope.outer if in_class and scope.outer else scope, defaults, decorators)


def store(program: Program, target: ast.expr, value: Value, scope: Scope) -> None:
    """Assign to a name, an attribute, an entry or several of them."""
    if isinstance(target, ast.Name):
        (scope.module.names if target.id in scope.globals_ else scope.names)[target.id] = value
    elif isinstance(target, ast.Attribute):
        set_attribute(program, evaluate(program, target.value, scope), target.attr, value)
    elif isinstance(target, ast.Subscript):
        held, key = names_in(evaluate(program, target.value, scope)), evaluate(program, target.slice, scope)
        at_place = isinstance(held, list) and isinstance(key, int) and -len(held) <= key < len(held)
        if at_place or (isinstance(held, dict) and is_scalar(key) and len(held) < operations.MOST_ITEMS):
            held[key] = value
    elif isinstance(target, (ast.Tuple, ast.List)):
        size = len(target.elts)
        starred = next((place for place, each in enumerate(target.elts) if isinstance(each, ast.Starred)), size)
        for place, each in enumerate(target.elts):
            rest = slice(place, place + 1 - size or None)
            key = rest if place == starred else place if place < starred else place - size
            store(program, each.value if isinstance(each, ast.Starred) else each, operations.item(value, key), scope)


def _look_up(program: Program, node: ast.Name, scope: Scope) -> Value:
    each: Scope | None = scope
    while each is not None:
        if node.id in each.names:
            return each.names[node.id]
        each = each.outer
    return scope.module.names[node.id] if node.id in scope.module.names else program.external(node.id)


def _flattened(program: Program, nodes: list[ast.expr], scope: Scope) -> list[Value]:
    found: list[Value] = []
    for each in nodes:
        value = evaluate(program, each.value if isinstance(each, ast.Starred) else each, scope)
        found += operations.charged(elements(value)[0]) if isinstance(each, ast.Starred) else [value]
    return found


def _call(program: Program, node: ast.Call, scope: Scope) -> Value:
    arguments = tuple(_flattened(program, node.args, scope))
    keywords: dict[str, Value] = {}
    for pair in node.keywords:
        value = evaluate(program, pair.value, scope)
        held = names_in(value) if isinstance(names_in(value), dict) else {"**": value}
        keywords.update({str(key): each for key, each in held.items()} if pair.arg is None else {pair.arg: value})
    if isinstance(node.func, ast.Attribute):
        return program.call_method(evaluate(program, node.func.value, scope), node.func.attr, arguments, keywords)
    if isinstance(node.func, ast.Name) and node.func.id in _OF_SCOPES:
        return _of_scope(program, node.func.id, arguments, scope)
    return program.call(evaluate(program, node.func, scope), arguments, keywords)


def _of_scope(program: Program, name: str, arguments: tuple[Value, ...], scope: Scope) -> Value:
    if name == "exec":
        parsed = parse(arguments[0]) if arguments and isinstance(arguments[0], str) else None
        return program.block(parsed.body, scope) if parsed else UNKNOWN
    if name == "super":
        return Handler("super", scope)
    return names_in(arguments[0]) if arguments else scope.module.names if name == "globals" else scope.names


def _boolean(program: Program, node: ast.BoolOp, scope: Scope) -> Value:
    stops = isinstance(node.op, ast.Or)
    found: list[Value] = []
    last: Value = None
    for each in node.values:
        last = evaluate(program, each, scope)
        known = operations.truth(last)
        if known is stops:
            return choice(*found, last) if stops else last
        found += [last] if known is None else []
    return Term("operation", type(node.op).__name__, tuple(found)) if len(found) > 1 else found[0] if found else last


def _compare(program: Program, node: ast.Compare, scope: Scope) -> Value:
    left, result = evaluate(program, node.left, scope), None
    for operator, right_node in zip(node.ops, node.comparators, strict=True):
        right = evaluate(program, right_node, scope)
        result = operations.compare(type(operator).__name__, left, right)
        if operations.truth(result) is False:
            return False
        left = right
    return result


def _conditional(program: Program, node: ast.IfExp, scope: Scope) -> Value:
    known = operations.truth(evaluate(program, node.test, scope))
    taken = [node.body, node.orelse] if known is None else [node.body if known else node.orelse]
    return choice(*(evaluate(program, each, scope) for each in taken))


def _unary(program: Program, node: ast.UnaryOp, scope: Scope) -> Value:
    value = evaluate(program, node.operand, scope)
    if isinstance(node.op, ast.Not):
        known = operations.truth(value)
        return UNKNOWN if known is None else not known
    return -value if isinstance(node.op, ast.USub) and isinstance(value, (int, float)) else UNKNOWN


def _slice(program: Program, node: ast.Slice, scope: Scope) -> Value:
    ends = [None if each is None else evaluate(program, each, scope) for each in (node.lower, node.upper, node.step)]
    return slice(*ends) if all(each is None or isinstance(each, int) for each in ends) else UNKNOWN


def _formatted(program: Program, node: ast.JoinedStr, scope: Scope) -> Value:
    nodes = [each.value if isinstance(each, ast.FormattedValue) else each for each in node.values]
    values = [evaluate(program, each, scope) for each in nodes]
    known = all(map(is_scalar, values)) and sum(len(str(each)) for each in values) <= operations.LONGEST_TEXT
    return operations.charged("".join(map(str, values))) if known else Term("operation", "join", tuple(values))


def _dictionary(program: Program, node: ast.Dict, scope: Scope) -> Value:
    found: dict[Any, Value] = {}
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        value = evaluate(program, value_node, scope)
        key = None if key_node is None else evaluate(program, key_node, scope)
        held = names_in(value) if key_node is None else {key: value} if is_scalar(key) else {}
        found.update(operations.charged(held) if isinstance(held, dict) else {})
    return found


def _comprehension(program: Program, node: ast.ListComp | ast.DictComp, scope: Scope) -> Value:
    found: list[tuple[Value, Value]] = []
    inner = Scope({}, scope, scope.module, scope.owner, scope.this)

    def evaluate_elements(generators: list[ast.comprehension]) -> bool:
        """Evaluate the elements; return whether all are known."""
        if not generators:
            pair = (node.key, node.value) if isinstance(node, ast.DictComp) else (ast.Constant(None), node.elt)
            found.append((evaluate(program, pair[0], inner), evaluate(program, pair[1], inner)))
            return True
        first, *rest = generators
        iterated = evaluate(program, first.iter, inner)
        items, known = elements(iterated)
        program.trace.loops.append(Loop(source(first.target), iterated, source(first.iter), tuple(program.loops)))
        for each in items:
            store(program, first.target, each, inner)
            wanted = [operations.truth(evaluate(program, test, inner)) for test in first.ifs]
            known = known if False in wanted else evaluate_elements(rest) and known
        return known

    if not evaluate_elements(node.generators):
        return Term("operation", "comprehension", tuple(value for _, value in found[:8]))
    keyed = isinstance(node, ast.DictComp)
    return {key: value for key, value in found if is_scalar(key)} if keyed else [value for _, value in found]


_HANDLERS: Mapping[type[ast.expr], Callable[[Program, Any, Scope], Value]] = {
    ast.Constant: lambda _program, node, _scope: node.value,
    ast.Attribute: lambda program, node, scope: attribute(program, evaluate(program, node.value, scope), node.attr),
    ast.Tuple: lambda program, node, scope: tuple(_flattened(program, node.elts, scope)),
    **dict.fromkeys((ast.List, ast.Set), lambda program, node, scope: _flattened(program, node.elts, scope)),
    ast.Await: lambda program, node, scope: evaluate(program, node.value, scope),
    ast.Lambda: lambda program, node, scope: function_of(program, "<lambda>", node, scope),
    ast.BinOp: lambda program, node, scope: operations.binary(
        type(node.op).__name__, evaluate(program, node.left, scope), evaluate(program, node.right, scope)
    ),
    ast.Subscript: lambda program, node, scope: operations.item(
        names_in(evaluate(program, node.value, scope)), evaluate(program, node.slice, scope)
    ),
    ast.Name: _look_up,
    ast.Call: _call,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Slice: _slice,
    ast.Dict: _dictionary,
    ast.JoinedStr: _formatted,
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp), _comprehension),
}
