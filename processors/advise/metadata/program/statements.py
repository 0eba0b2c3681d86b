"""Statements: assignments, branches, loops, definitions and imports."""

import ast
from collections.abc import Callable, Mapping
from typing import Any

from ..budget import step
from . import operations
from .expressions import elements, function_of, source, store
from .trace import Loop
from .values import UNKNOWN, Class, Function, Handler, Module, Program, Scope, Term, Value, choice, is_number

NEXT, BREAK, CONTINUE, RETURN, RAISE = "next", "break", "continue", "return", "raise"
"""Ways to leave a block."""
_EXITS = ("exit", "quit", "sys.exit", "os._exit")


def block(program: Program, body: list[ast.stmt], scope: Scope) -> str:
    """Follow statements until one leaves the block; return how it leaves. A statement that fails is passed over."""
    loops, size, unsure = program.loops, len(program.loops), program.unsure
    for statement in body:
        step()
        handler = _HANDLERS.get(type(statement))
        leaves = _LEAVING.get(type(statement), NEXT)
        try:
            leaves = handler(program, statement, scope) or NEXT if handler else leaves
        except Exception:  # noqa: BLE001  a foreign statement may cause any error
            leaves, program.loops, program.unsure = NEXT, loops, unsure
            del loops[size:]
        if leaves != NEXT:
            return leaves
    return NEXT


def _expression(program: Program, node: ast.Expr, scope: Scope) -> str:
    program.evaluate(node.value, scope)
    return RAISE if isinstance(node.value, ast.Call) and source(node.value.func) in _EXITS else NEXT


def _assign(program: Program, node: ast.Assign | ast.AnnAssign, scope: Scope) -> None:
    if node.value is not None:
        value = program.evaluate(node.value, scope)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            store(program, target, value, scope)


def _augmented(program: Program, node: ast.AugAssign, scope: Scope) -> None:
    both = program.evaluate(node.target, scope), program.evaluate(node.value, scope)
    value = operations.binary(type(node.op).__name__, *both)
    if program.loops and is_number(value):  # the value of the first iteration is not that of the others
        value = Term("operation", type(node.op).__name__, both)
    store(program, node.target, value, scope)


def _if(program: Program, node: ast.If, scope: Scope) -> str:
    known = operations.truth(program.evaluate(node.test, scope))
    if known is not None:
        return block(program, node.body if known else node.orelse, scope)
    before = dict(scope.names)
    program.unsure += 1
    first = block(program, node.body, scope)
    after = dict(scope.names)
    scope.names.clear()
    scope.names.update(before)
    second = block(program, node.orelse, scope)
    program.unsure -= 1
    if first == NEXT and second == NEXT:
        after = {name: choice(value, scope.names.get(name, UNKNOWN)) for name, value in after.items()}
    if first == NEXT:
        scope.names.clear()
        scope.names.update(after)
    return second if first != NEXT else NEXT


def _for(program: Program, node: ast.For, scope: Scope) -> str:
    iterated = program.evaluate(node.iter, scope)
    items, known = elements(iterated)
    leaves = NEXT
    _enter(program, Loop(source(node.target), iterated, source(node.iter), tuple(program.loops)), node.body, scope)
    for each in items:
        store(program, node.target, each, scope)
        leaves = block(program, node.body, scope)
        if leaves in {RETURN, RAISE} or (leaves == BREAK and known):
            break
    program.loops.pop()
    return leaves if leaves in {RETURN, RAISE} and known else block(program, node.orelse, scope)


def _while(program: Program, node: ast.While, scope: Scope) -> None:
    if operations.truth(program.evaluate(node.test, scope)) is not False:
        _enter(program, Loop("", None, source(node.test), tuple(program.loops)), node.body, scope)
        block(program, node.body, scope)
        program.loops.pop()


def _enter(program: Program, loop: Loop, body: list[ast.stmt], scope: Scope) -> None:
    """Record a loop, and make the numbers unknown that it counts up."""
    program.trace.loops.append(loop)
    program.loops.append(loop)
    for each in (inner for statement in body for inner in ast.walk(statement)):
        if isinstance(each, ast.AugAssign) and isinstance(each.target, (ast.Name, ast.Attribute)):
            value = program.evaluate(each.target, scope)
            if is_number(value):
                store(program, each.target, Term("operation", "counted", (value,)), scope)


def _with(program: Program, node: ast.With, scope: Scope) -> str:
    for each in node.items:
        value = program.evaluate(each.context_expr, scope)
        if each.optional_vars is not None:
            store(program, each.optional_vars, value, scope)
    return block(program, node.body, scope)


def _try(program: Program, node: ast.Try, scope: Scope) -> str:
    leaves = block(program, node.body, scope)
    if leaves in {NEXT, RAISE}:
        leaves = block(program, node.orelse if leaves == NEXT or not node.handlers else node.handlers[0].body, scope)
    last = block(program, node.finalbody, scope)
    return last if last != NEXT else leaves


def _function(program: Program, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
    decorators = tuple(program.evaluate(each, scope) for each in node.decorator_list)
    function: Value = function_of(program, node.name, node, scope, decorators)
    scope.names[node.name] = function
    for each in reversed(decorators):
        made = program.call(each, (function,)) if isinstance(each, (Function, Handler)) else function
        function = made if isinstance(made, (Function, Handler)) else function
    scope.names[node.name] = function


def _class(program: Program, node: ast.ClassDef, scope: Scope) -> None:
    cls = Class(node.name, scope.module, tuple(program.evaluate(each, scope) for each in node.bases), {}, node)
    block(program, node.body, Scope(cls.names, scope, scope.module, owner=cls))
    for each in cls.names.values():
        if isinstance(each, Function) and each.owner is None:
            each.owner = cls
    scope.names[node.name] = cls
    for decorator in node.decorator_list:  # it may register the class
        program.call(program.evaluate(decorator, scope), (cls,))


def _return(program: Program, node: ast.Return, scope: Scope) -> str:
    scope.returned.append(program.evaluate(node.value, scope) if node.value else None)
    return RETURN


def _import(program: Program, node: ast.Import, scope: Scope) -> None:
    for alias in node.names:
        value = program.import_module(alias.name)
        first = alias.name.partition(".")[0]
        scope.names[alias.asname or first] = value if alias.asname else program.import_module(first)


def _import_from(program: Program, node: ast.ImportFrom, scope: Scope) -> None:
    name = program.modules.absolute_name(node.module or "", node.level, scope.module)
    module = program.import_module(name)
    for alias in node.names:
        if alias.name != "*":
            scope.names[alias.asname or alias.name] = program.member(module, name, alias.name)
        elif isinstance(module, Module):
            scope.names.update({name: each for name, each in module.names.items() if name[:1] != "_"})


_HANDLERS: Mapping[type[ast.stmt], Callable[[Program, Any, Scope], str | None]] = {
    ast.Expr: _expression,
    **dict.fromkeys((ast.Assign, ast.AnnAssign), _assign),
    ast.AugAssign: _augmented,
    ast.If: _if,
    **dict.fromkeys((ast.For, ast.AsyncFor), _for),
    ast.While: _while,
    **dict.fromkeys((ast.With, ast.AsyncWith), _with),
    ast.Try: _try,
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef), _function),
    ast.ClassDef: _class,
    ast.Return: _return,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Global: lambda _program, node, scope: scope.globals_.update(node.names),
}
_LEAVING: Mapping[type[ast.stmt], str] = {ast.Raise: RAISE, ast.Break: BREAK, ast.Continue: CONTINUE}
