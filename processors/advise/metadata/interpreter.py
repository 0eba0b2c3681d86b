"""An abstract interpreter: follows which value reaches which call, and never runs anything.

Where a condition is not known both branches are followed and what they leave is joined. A loop's body is followed once, that over a
known list once an element. A function is followed at each call. Steps, depth and iterations are bounded.
"""

import ast
from collections.abc import Callable, Mapping

from . import operations
from .expressions import Expressions
from .library.gin import bound_parameters
from .library.python import EXIT
from .modules import Modules
from .trace import Call, Loop, Trace, source
from .tree import ROOT, SourceTree
from .values import UNKNOWN, Class, Function, Instance, Module, Scope, Term, Value, choice, dotted

MOST_STEPS = 250_000
DEEPEST_CALL = 28
MOST_NESTED = 4
"""Calls of one function inside itself that are followed."""

NEXT, BREAK, CONTINUE, RETURN, RAISE = "next", "break", "continue", "return", "raise"


class Stopped(Exception):
    """The limits are reached; what was seen so far stands."""


class Interpreter(Expressions):
    """Follows one program of a tree.

    Args:
        tree: The tree.
        directory: Working directory, relative to the tree.
        search: Directories, relative to the tree, in which modules are looked for.
        argv: Words of the command line, the program's own name first.
        environment: Environment variables that are known.
        processes: Processes of the job.
        devices: Devices of one node.
    """

    def __init__(  # noqa: PLR0917  # all of them by name or place
        self,
        tree: SourceTree,
        directory: str,
        search: list[str],
        argv: list[str],
        environment: Mapping[str, str],
        processes: int,
        devices: int,
    ) -> None:
        self.tree, self.directory, self.argv = tree, directory, argv
        self.environment, self.processes, self.devices = dict(environment), processes, devices
        self.trace = Trace()
        self.modules = Modules(tree, search)
        self.loops: list[Loop] = []
        self.calls: list[Function] = []
        self.stored: dict[str, Value] = {}
        self._steps = 0
        self._statements: dict[type[ast.stmt], Callable[..., str]] = {
            ast.Expr: self._expression,
            ast.Assign: self._assign,
            ast.AnnAssign: self._annotated,
            ast.AugAssign: self._augmented,
            ast.If: self._if,
            ast.For: self._for,
            ast.AsyncFor: self._for,
            ast.While: self._while,
            ast.With: self._with,
            ast.AsyncWith: self._with,
            ast.Try: self._try,
            ast.FunctionDef: self._function,
            ast.AsyncFunctionDef: self._function,
            ast.ClassDef: self._class,
            ast.Return: self._return,
            ast.Import: self._import,
            ast.ImportFrom: self._import_from,
            ast.Global: self._global,
            ast.Nonlocal: self._nonlocal,
            ast.Match: self._match,
        }

    def step(self) -> None:
        """Count a step.

        Raises:
            Stopped: There were too many.
        """
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise Stopped("too many steps")

    def run_file(self, name: str, as_name: str = "__main__") -> Module | None:
        """Follow a file of the tree as the program; null where it cannot be read."""
        parsed = self.modules.parse(name)
        if parsed is None:
            return None
        module = Module(as_name, name, package=False, names={"__name__": as_name, "__file__": self.absolute(name)})
        self.trace.entry = self.trace.entry or name
        self.trace.settings.append(("constants", module.names))
        self.execute_module(module, parsed)
        return module

    def absolute(self, name: str) -> str:
        """Return a name in the tree as the path that the program sees."""
        return f"{ROOT}/{name}"

    def execute_module(self, module: Module, parsed: ast.Module) -> None:
        """Follow a module's statements."""
        self.trace.files.append(module.file)
        scope = Scope(module.names, None, module)
        self.block(parsed.body, scope)

    def block(self, body: list[ast.stmt], scope: Scope) -> str:
        """Follow statements until one leaves; return how it leaves."""
        for statement in body:
            self.step()
            handler = self._statements.get(type(statement))
            signal = handler(statement, scope) if handler else _SIGNALS.get(type(statement), NEXT)
            if signal != NEXT:
                return signal
        return NEXT

    # Calls of functions and the making of objects.

    def call_function(self, function: Function, arguments: tuple[Value, ...], keywords: Mapping[str, Value]) -> Value:
        """Follow a function of the tree; return what it returns."""
        node = function.node
        same = sum(each.node is node for each in self.calls)
        if len(self.calls) >= DEEPEST_CALL or same >= MOST_NESTED:
            return Term("call", function.name, (function, *arguments), keywords)
        if function.this is not None:
            arguments = (function.this, *arguments)
        arguments = (*function.bound_arguments, *arguments)
        keywords = {**function.bound_keywords, **keywords}
        names = self._bind(function, arguments, keywords)
        scope = Scope(names, function.scope, function.scope.module, owner=function.owner, this=function.this)
        self.calls.append(function)
        try:
            if isinstance(node, ast.Lambda):
                return self.evaluate(node.body, scope)
            self.block(node.body, scope)
        finally:
            self.calls.pop()
        if not scope.returned:
            return UNKNOWN if _yields(node) else None
        return choice(*scope.returned)

    def _bind(
        self, function: Function, arguments: tuple[Value, ...], keywords: Mapping[str, Value]
    ) -> dict[str, Value]:
        spec = function.node.args
        places = [each.arg for each in (*spec.posonlyargs, *spec.args)]
        names: dict[str, Value] = dict(
            zip(places[len(places) - len(function.defaults) :], function.defaults, strict=False)
        )
        names.update(function.keyword_defaults)
        names.update({key: each for key, each in bound_parameters(self, function).items() if key in _parameters(spec)})
        rest = dict(keywords)
        names.update(zip(places, arguments, strict=False))
        for name in [*places, *(each.arg for each in spec.kwonlyargs)]:
            if name in rest:
                names[name] = rest.pop(name)
            names.setdefault(name, UNKNOWN)
        if spec.vararg:
            names[spec.vararg.arg] = tuple(arguments[len(places) :])
        if spec.kwarg:
            names[spec.kwarg.arg] = rest
        return names

    def instantiate(self, cls: Class, arguments: tuple[Value, ...], keywords: Mapping[str, Value]) -> Value:
        """Make an object of a class of the tree: its fields, then its `__init__`."""
        instance = Instance(cls, {}, arguments, dict(keywords))
        lineage = list(cls.ancestry())
        if any(
            dotted(each).endswith(("dataclass", "define", "frozen", "struct.dataclass", "chz"))
            or "dataclass" in dotted(each)
            for one in lineage
            for each in one.decorators
        ) or any(
            base.endswith(
                ("NamedTuple", "BaseModel", "Struct", "TypedDict", "PretrainedConfig", "TrainingArguments", "Config")
            )
            for base in cls.external_bases()
        ):
            self._fields(instance, lineage, arguments, keywords)
        init = cls.find("__init__")
        if isinstance(init, Function):
            self.call_function(self.bind(init, instance, cls), arguments, keywords)
        post = cls.find("__post_init__")
        if isinstance(post, Function):
            self.call_function(self.bind(post, instance, cls), (), {})
        return instance

    def _fields(
        self, instance: Instance, lineage: list[Class], arguments: tuple[Value, ...], keywords: Mapping[str, Value]
    ) -> None:
        names: list[str] = []
        for cls in reversed(lineage):
            for node in cls.node.body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    name = node.target.id
                    if name not in names:
                        names.append(name)
                    instance.names[name] = self.default_of(cls.names.get(name, UNKNOWN))
        for name, value in zip(names, arguments, strict=False):
            instance.names[name] = value
        instance.names.update({name: value for name, value in keywords.items() if name in names})

    def default_of(self, value: Value) -> Value:
        """Return the default that `field(default=…)` or `Field(…)` stands for."""
        if not (
            isinstance(value, Term) and value.kind == "call" and dotted(value.parts[0]).rpartition(".")[2] in _FIELDS
        ):
            return value
        if "default" in value.keywords:
            return value.keywords["default"]
        factory = value.keywords.get("default_factory", UNKNOWN)
        if factory is not UNKNOWN:
            return self.call(factory, (), {}, None)
        return value.parts[1] if len(value.parts) > 1 else UNKNOWN

    def record(
        self, called: Value, arguments: tuple[Value, ...], keywords: Mapping[str, Value], result: Value, line: int
    ) -> None:
        """Take a call up in the trace."""
        if self.trace.full:
            return
        bases = tuple(called.external_bases()) if isinstance(called, Class) else ()
        file = self.calls[-1].scope.module.file if self.calls else self.trace.entry
        functions = tuple(each.name for each in self.calls)
        self.trace.add(
            Call(dotted(called), called, arguments, keywords, result, tuple(self.loops), functions, bases, file, line)
        )

    # Statements.

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
        one = self.block(first, scope)
        after = dict(scope.names)
        _restore(scope.names, before)
        other = self.block(second, scope)
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
        iterated = self.evaluate(node.iter, scope)
        loop = Loop(source(node.target), iterated, source(node.iter), scope.module.file, node.lineno, tuple(self.loops))
        self.trace.loops.append(loop)
        items, counted = self.elements(iterated)
        self.loops.append(loop)
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
        try:
            self._limit(node.test, scope)
            self.block(node.body, scope)
        finally:
            self.loops.pop()
        return NEXT

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
        around = scope.outer if scope.owner and scope.outer else scope
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

    def import_module(self, name: str) -> Value:
        """Return a module of the tree, followed once, or the name of a library's."""
        module, parsed = self.modules.find(name)
        if module is None:
            return self.external(name)
        if parsed is not None:
            loops, self.loops = self.loops, []
            try:
                self.execute_module(module, parsed)
            finally:
                self.loops = loops
            parent, _, last = name.rpartition(".")
            around = self.import_module(parent) if parent else None
            if isinstance(around, Module):
                around.names.setdefault(last, module)
        return module


_FIELDS = {"field", "Field", "ib", "attrib", "HfArg", "list_field", "dict_field", "choice", "flag", "arg"}


def _parameters(spec: ast.arguments) -> set[str]:
    return {each.arg for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}


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


def _yields(node: ast.AST) -> bool:
    return any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in ast.walk(node))
