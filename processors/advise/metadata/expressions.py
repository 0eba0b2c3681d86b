"""Expressions: what each is worth, as far as that is known."""

import ast
from abc import abstractmethod

from . import operations
from .budget import step
from .comparisons import compared
from .elements import MOST_ELEMENTS, Collections, element
from .enumerations import is_enumeration, member_value, members
from .library.paths import is_path
from .mappings import entries
from .values import (
    UNKNOWN,
    Function,
    Instance,
    Model,
    Module,
    Scope,
    Term,
    Value,
    choice,
)

DEEPEST_EXPRESSION = 60


class Expressions(Collections):
    """The part of the interpreter that evaluates."""

    _depth = 0

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """Return what an expression is worth."""
        step()
        if isinstance(node, ast.Constant):
            return node.value
        handler = _HANDLERS.get(type(node))
        if handler is None or self._depth > DEEPEST_EXPRESSION * 8:
            return UNKNOWN
        self._depth += 1
        try:
            found: Value = getattr(self, handler)(node, scope)
            return found
        except (RecursionError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001  whatever a model of a library makes of a foreign call: its value is unknown
            self.trace.note(error, f"{scope.module.file}:{node.lineno}")
            return UNKNOWN
        finally:
            self._depth -= 1

    # Kinds of expressions.

    def _name(self, node: ast.Name, scope: Scope) -> Value:
        return self.look_up(node.id, scope)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        return self.attribute(self.evaluate(node.value, scope), node.attr)

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        arguments: list[Value] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                inner = self.evaluate(each.value, scope)
                arguments += list(inner)[:MOST_ELEMENTS] if isinstance(inner, (list, tuple)) else [element(inner)]
            else:
                arguments.append(self.evaluate(each, scope))
        keywords: dict[str, Value] = {}
        for pair in node.keywords:
            value = self.evaluate(pair.value, scope)
            if pair.arg is not None:
                keywords[pair.arg] = value
            elif (held := entries(value)) is not None:
                keywords.update({key: each for key, each in held.items() if isinstance(key, str)})
            else:
                keywords["**"] = value
        function = node.func
        if isinstance(function, ast.Attribute):
            owner = self.evaluate(function.value, scope)
            return self.call_method(owner, function.attr, tuple(arguments), keywords, node.lineno)
        if isinstance(function, ast.Name) and function.id in _SCOPED and function.id not in scope.names:
            return self._scoped(function.id, tuple(arguments), scope)
        return self.call(self.evaluate(function, scope), tuple(arguments), keywords, node)

    def _scoped(self, name: str, arguments: tuple[Value, ...], scope: Scope) -> Value:
        """Return what the functions of Python that need to know where they are called give."""
        if name == "globals":
            return scope.module.names
        if name in {"locals", "vars"} and not arguments:
            return scope.names
        if name == "vars":
            return arguments[0].names if isinstance(arguments[0], (Instance, Module)) else arguments[0]
        if name == "super":
            lineage = list(scope.owner.ancestry())[1:] if scope.owner else []
            bases = scope.owner.bases if scope.owner else ()
            return Model("super", (lineage, scope.this, bases)) if scope.owner else UNKNOWN
        if arguments and isinstance(arguments[0], str):
            return self._run_text(arguments[0], name, scope)
        return UNKNOWN

    def _run_text(self, text: str, name: str, scope: Scope) -> Value:
        try:
            if name == "eval":
                return self.evaluate(ast.parse(text.strip(), mode="eval").body, scope)
            self.block(ast.parse(text).body, scope)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return UNKNOWN
        return None

    @abstractmethod
    def block(self, body: list[ast.stmt], scope: Scope) -> str:
        """Follow statements."""

    def _binary(self, node: ast.BinOp, scope: Scope) -> Value:
        left, right = self.evaluate(node.left, scope), self.evaluate(node.right, scope)
        if isinstance(node.op, ast.Div) and isinstance(left, str):  # a path that the command line made one
            left = Term("call", "Path", (Term("external", "pathlib.Path"), left))
        if isinstance(node.op, ast.Div) and is_path(left):
            return _joined_path(left, right)
        return operations.binary(operations.operator_name(node.op), left, right)

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Value:
        return operations.unary(operations.operator_name(node.op), self.evaluate(node.operand, scope))

    def _boolean(self, node: ast.BoolOp, scope: Scope) -> Value:
        stops = isinstance(node.op, ast.Or)
        found: list[Value] = []
        for each in node.values:
            value = self.evaluate(each, scope)
            known = operations.truth(value)
            if known is stops:
                return (
                    value
                    if not found
                    else (choice(*found, value) if stops else Term("operation", "And", (*found, value)))
                )
            if known is None:
                found.append(value)
            last = value
        if not found:
            return last
        return Term("operation", "Or" if stops else "And", tuple(found)) if len(found) > 1 else found[0]

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        left, result = self.evaluate(node.left, scope), None
        for operator, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.evaluate(right_node, scope)
            result = compared(operator, left, right)
            if operations.truth(result) is False:
                return False
            left = right
        return result

    def _conditional(self, node: ast.IfExp, scope: Scope) -> Value:
        known = operations.truth(self.evaluate(node.test, scope))
        if known is not None:
            return self.evaluate(node.body if known else node.orelse, scope)
        return choice(self.evaluate(node.body, scope), self.evaluate(node.orelse, scope))

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        owner = self.evaluate(node.value, scope)
        if isinstance(owner, Instance):
            method = owner.cls.find("__getitem__")
            if isinstance(method, Function):
                key = self.evaluate(node.slice, scope)
                return self.call_function(self.bind(method, owner, owner.cls), (key,), {})
            owner = entries(owner) or owner
        key = operations.as_key(member_value(self.evaluate(node.slice, scope)))
        return members(owner).get(key, UNKNOWN) if is_enumeration(owner) else operations.item(owner, key)

    def _slice(self, node: ast.Slice, scope: Scope) -> Value:
        ends = [None if each is None else self.evaluate(each, scope) for each in (node.lower, node.upper, node.step)]
        return slice(*ends) if all(each is None or isinstance(each, int) for each in ends) else UNKNOWN

    def _formatted(self, node: ast.JoinedStr, scope: Scope) -> Value:
        found: list[Value] = []
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                value = self.evaluate(each.value, scope)
                simple = each.format_spec is None and operations.is_scalar(value)
                found.append(str(value) if simple else value)
            elif isinstance(each, ast.Constant):
                found.append(str(each.value))
        if all(isinstance(each, str) for each in found) and sum(map(len, found)) <= operations.LONGEST_TEXT:
            return "".join(found)
        return Term("operation", "join", tuple(found))

    def _lambda(self, node: ast.Lambda, scope: Scope) -> Value:
        return Function(node, scope, tuple(self.evaluate(each, scope) for each in node.args.defaults))

    def _walrus(self, node: ast.NamedExpr, scope: Scope) -> Value:
        value = self.evaluate(node.value, scope)
        self.store(node.target, value, scope)
        return value

    def _inner(self, node: ast.Await | ast.Starred, scope: Scope) -> Value:
        return self.evaluate(node.value, scope)

    def _yield_from(self, node: ast.YieldFrom, scope: Scope) -> Value:
        scope.returned.append(element(self.evaluate(node.value, scope)))
        return UNKNOWN

    def _yield(self, node: ast.Yield, scope: Scope) -> Value:
        if node.value is not None:
            scope.returned.append(self.evaluate(node.value, scope))
        return UNKNOWN


_SCOPED = {"globals", "locals", "vars", "super", "eval", "exec"}
_HANDLERS: dict[type[ast.expr], str] = {
    ast.Name: "_name",
    ast.Attribute: "_attribute",
    ast.Call: "_call",
    ast.BinOp: "_binary",
    ast.UnaryOp: "_unary",
    ast.BoolOp: "_boolean",
    ast.Compare: "_compare",
    ast.IfExp: "_conditional",
    ast.Subscript: "_subscript",
    ast.Slice: "_slice",
    ast.List: "_sequence",
    ast.Tuple: "_sequence",
    ast.Set: "_sequence",
    ast.Dict: "_dictionary",
    ast.JoinedStr: "_formatted",
    ast.Lambda: "_lambda",
    ast.ListComp: "_comprehension",
    ast.SetComp: "_comprehension",
    ast.GeneratorExp: "_comprehension",
    ast.DictComp: "_dictionary_comprehension",
    ast.NamedExpr: "_walrus",
    ast.Await: "_inner",
    ast.Starred: "_inner",
    ast.YieldFrom: "_yield_from",
    ast.Yield: "_yield",
}


def _joined_path(left: Term, right: Value) -> Value:
    pieces = [*left.parts[1:], right]
    return Term("call", "Path", (left.parts[0], *pieces))
