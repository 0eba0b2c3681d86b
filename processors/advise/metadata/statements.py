"""Statements: branches that are taken, loops once, what names come to stand for."""

import ast
from collections.abc import Mapping

from . import operations
from .budget import step
from .expressions import Expressions
from .library.standard_library import EXIT
from .trace import Loop, source
from .values import (
    UNKNOWN,
    Class,
    Function,
    Module,
    Scope,
    Term,
    Value,
    choice,
)

NEXT, BREAK, CONTINUE, RETURN, RAISE = "next", "break", "continue", "return", "raise"


class Statements(Expressions):
    """The part of the interpreter that follows statements."""

    def block(self, body: list[ast.stmt], scope: Scope) -> str:
        """Follow statements until one leaves; return how it leaves."""
        for statement in body:
            step()
            signal = self._statement(statement, scope)
            if signal != NEXT:
                return signal
        return NEXT

    def _statement(self, statement: ast.stmt, scope: Scope) -> str:
        handler = _HANDLERS.get(type(statement))
        if handler is None:
            return _SIGNALS.get(type(statement), NEXT)
        try:
            signal: str = getattr(self, handler)(statement, scope)
        except (RecursionError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001  whatever comes of a foreign statement: the next one is followed
            self.trace.note(error, f"{scope.module.file}:{statement.lineno}")
            return NEXT
        return signal

    def _expression(self, node: ast.Expr, scope: Scope) -> str:
        value = self.evaluate(node.value, scope)
        return RAISE if value is EXIT else NEXT

    def _assign(self, node: ast.Assign, scope: Scope) -> str:
        value = self.evaluate(node.value, scope)
        for target in node.targets:
            self.store(target, value, scope)
        return NEXT

    def _annotated(self, node: ast.AnnAssign, scope: Scope) -> str:
        if node.value is not None:
            self.store(node.target, self.evaluate(node.value, scope), scope)
        return NEXT

    def _augmented(self, node: ast.AugAssign, scope: Scope) -> str:
        left = self.evaluate(node.target, scope)
        right = self.evaluate(node.value, scope)
        value = operations.binary(operations.operator_name(node.op), left, right)
        if self.loops and isinstance(value, (int, float)) and not isinstance(value, bool):
            value = Term("operation", operations.operator_name(node.op), (left, right))
        self.store(node.target, value, scope)
        return NEXT

    def _if(self, node: ast.If, scope: Scope) -> str:
        condition = self.evaluate(node.test, scope)
        known = operations.truth(condition)
        if self.loops and _leaves(node.body):
            self._limit(node.test, scope)
        if known is not None:
            return self.block(node.body if known else node.orelse, scope)
        return self._either(node.body, node.orelse, scope)

    def _either(self, first: list[ast.stmt], second: list[ast.stmt], scope: Scope) -> str:
        before = dict(scope.names)
        self.unsure += 1
        try:
            one = self.block(first, scope)
            after = dict(scope.names)
            _restore(scope.names, before)
            other = self.block(second, scope)
        finally:
            self.unsure -= 1
        if one != NEXT:
            return NEXT if other == NEXT else other
        if other != NEXT:
            _restore(scope.names, after)
            return NEXT
        for name, value in after.items():
            now = scope.names.get(name, UNKNOWN)
            scope.names[name] = value if now is value else choice(value, now)
        return NEXT

    def _limit(self, test: ast.expr, scope: Scope) -> None:
        """Note the comparisons of a condition that ends the innermost loops."""
        compared = [each for each in ast.walk(test) if isinstance(each, ast.Compare) and len(each.ops) == 1]
        for each in compared[:4]:
            if isinstance(each.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq)):
                left, right = each.left, each.comparators[0]
                limit = (source(left), self.evaluate(left, scope), source(right), self.evaluate(right, scope))
                self.loops[-1].limits.append(limit)

    def _for(self, node: ast.For, scope: Scope) -> str:
        return self.sparing(lambda: self._follow_loop(node, scope), NEXT, f"{scope.module.file}:{node.lineno}")

    def _follow_loop(self, node: ast.For, scope: Scope) -> str:
        iterated = self.evaluate(node.iter, scope)
        loop = Loop(source(node.target), iterated, source(node.iter), scope.module.file, node.lineno, tuple(self.loops))
        self.trace.loops.append(loop)
        items, counted = self.elements(iterated)
        self.loops.append(loop)
        self._forget_counters(node.body, scope)
        signal = NEXT
        try:
            for each in items:
                self.store(node.target, each, scope)
                signal = self.block(node.body, scope)
                if signal in {RETURN, RAISE} or (signal == BREAK and counted):
                    break
        finally:
            self.loops.pop()
        if signal in {RETURN, RAISE} and counted:
            return signal
        return self.block(node.orelse, scope) if node.orelse else NEXT

    def _while(self, node: ast.While, scope: Scope) -> str:
        loop = Loop("", None, source(node.test), scope.module.file, node.lineno, tuple(self.loops))
        self.trace.loops.append(loop)
        if operations.truth(self.evaluate(node.test, scope)) is False:
            return NEXT
        self.loops.append(loop)
        self._forget_counters(node.body, scope)
        try:
            self._limit(node.test, scope)
            self.block(node.body, scope)
        finally:
            self.loops.pop()
        return NEXT

    def _forget_counters(self, body: list[ast.stmt], scope: Scope) -> None:
        """Make numbers unknown that a loop counts up: `if step > 1_000` holds some time, though not the first time round."""
        for each in (inner for statement in body for inner in ast.walk(statement)):
            if isinstance(each, ast.AugAssign) and isinstance(each.target, (ast.Name, ast.Attribute)):
                value = self.evaluate(each.target, scope)
                if isinstance(value, (int, float)) and not isinstance(value, bool):
                    self.store(each.target, Term("operation", "counted", (value,)), scope)

    def _with(self, node: ast.With, scope: Scope) -> str:
        for each in node.items:
            value = self.evaluate(each.context_expr, scope)
            if each.optional_vars is not None:
                self.store(each.optional_vars, value, scope)
        return self.block(node.body, scope)

    def _try(self, node: ast.Try, scope: Scope) -> str:
        signal = self.block(node.body, scope)
        if signal == RAISE and node.handlers:
            signal = self.block(node.handlers[0].body, scope)
        elif signal == NEXT:
            signal = self.block(node.orelse, scope)
        last = self.block(node.finalbody, scope)
        return last if last != NEXT else signal

    def _match(self, node: ast.Match, scope: Scope) -> str:
        subject = self.evaluate(node.subject, scope)
        for case in node.cases:
            pattern = case.pattern
            values = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
            known = [self.evaluate(each.value, scope) for each in values if isinstance(each, ast.MatchValue)]
            if any(operations.truth(operations.binary("Eq", subject, each)) is True for each in known) or (
                isinstance(pattern, ast.MatchAs) and pattern.pattern is None
            ):
                return self.block(case.body, scope)
        return NEXT

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> str:
        defaults = tuple(self.evaluate(each, scope) for each in node.args.defaults)
        keyword_defaults = {
            each.arg: self.evaluate(value, scope)
            for each, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            if value is not None
        }
        decorators = tuple(self.evaluate(each, scope) for each in node.decorator_list)
        in_class = scope.owner is not None and scope.names is scope.owner.names  # whose names its methods do not see
        around = scope.outer if in_class and scope.outer else scope
        function = Function(node, around, defaults, keyword_defaults, decorators=decorators)
        self.assign_name(node.name, function, scope)
        for decorator in reversed(decorators):
            made = self.decorate(decorator, function)
            self.assign_name(node.name, made, scope)
        return NEXT

    def _class(self, node: ast.ClassDef, scope: Scope) -> str:
        bases = tuple(self.evaluate(each, scope) for each in node.bases)
        decorators = tuple(self.evaluate(each, scope) for each in node.decorator_list)
        cls = Class(node.name, scope.module, bases, {}, node, decorators)
        inner = Scope(cls.names, scope, scope.module, owner=cls)
        self.block(node.body, inner)
        for each in cls.names.values():
            if isinstance(each, Function) and each.owner is None:
                each.owner = cls
        self.assign_name(node.name, cls, scope)
        for decorator in reversed(decorators):
            self.decorate(decorator, cls)
        return NEXT

    def _return(self, node: ast.Return, scope: Scope) -> str:
        scope.returned.append(self.evaluate(node.value, scope) if node.value else None)
        return RETURN

    def _global(self, node: ast.Global, scope: Scope) -> str:
        scope.globals_.update(node.names)
        return NEXT

    def _nonlocal(self, node: ast.Nonlocal, scope: Scope) -> str:
        scope.nonlocals.update(node.names)
        return NEXT

    def _import(self, node: ast.Import, scope: Scope) -> str:
        for alias in node.names:
            value = self.import_module(alias.name)
            if alias.asname:
                self.assign_name(alias.asname, value, scope)
            else:
                first = alias.name.partition(".")[0]
                self.assign_name(first, self.import_module(first), scope)
        return NEXT

    def _import_from(self, node: ast.ImportFrom, scope: Scope) -> str:
        name = self.modules.absolute_name(node.module or "", node.level, scope.module)
        module = self.import_module(name)
        for alias in node.names:
            if alias.name != "*":
                self.assign_name(alias.asname or alias.name, self._member(module, name, alias.name), scope)
            elif isinstance(module, Module):
                public = module.names.get("__all__")
                wanted = public if isinstance(public, list) else [each for each in module.names if each[:1] != "_"]
                scope.names.update({each: module.names[each] for each in wanted if each in module.names})
        return NEXT

    def _member(self, module: Value, name: str, member: str) -> Value:
        if isinstance(module, Module):
            if member in module.names:
                return module.names[member]
            inner = self.import_module(f"{name}.{member}")
            return inner if isinstance(inner, Module) else Term("external", f"{name}.{member}")
        return self.external(f"{name}.{member}")


_HANDLERS: Mapping[type[ast.stmt], str] = {
    ast.Expr: "_expression",
    ast.Assign: "_assign",
    ast.AnnAssign: "_annotated",
    ast.AugAssign: "_augmented",
    ast.If: "_if",
    ast.For: "_for",
    ast.AsyncFor: "_for",
    ast.While: "_while",
    ast.With: "_with",
    ast.AsyncWith: "_with",
    ast.Try: "_try",
    ast.FunctionDef: "_function",
    ast.AsyncFunctionDef: "_function",
    ast.ClassDef: "_class",
    ast.Return: "_return",
    ast.Import: "_import",
    ast.ImportFrom: "_import_from",
    ast.Global: "_global",
    ast.Nonlocal: "_nonlocal",
    ast.Match: "_match",
}
_SIGNALS: Mapping[type[ast.stmt], str] = {ast.Raise: RAISE, ast.Break: BREAK, ast.Continue: CONTINUE}


def _restore(names: dict[str, Value], before: Mapping[str, Value]) -> None:
    names.clear()
    names.update(before)


def _leaves(body: list[ast.stmt]) -> bool:
    """Whether a block ends the loop, the function or the program."""
    for each in body:
        if isinstance(each, (ast.Break, ast.Return)):
            return True
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) and "exit" in source(each.value.func):
            return True
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant) and isinstance(each.value.value, bool):
            return True
    return False
