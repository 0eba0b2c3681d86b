"""Expressions: what each is worth, as far as that is known."""

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from . import operations
from .library import ATTRIBUTES, EXTERNALS, METHODS, PASSED_THROUGH
from .library.python import is_path, method_of_super, path_attribute
from .trace import Loop, Trace
from .tree import SourceTree
from .values import (
    UNKNOWN,
    Class,
    Config,
    Function,
    Instance,
    Model,
    Module,
    Scope,
    Term,
    Value,
    alternatives,
    choice,
    dotted,
)

DEEPEST_EXPRESSION = 60
MOST_ELEMENTS = 256


class Expressions(ABC):
    """The half of the interpreter that evaluates."""

    tree: SourceTree
    trace: Trace
    directory: str
    argv: list[str]
    environment: dict[str, str]
    processes: int
    devices: int
    loops: list[Loop]
    _depth = 0

    @abstractmethod
    def step(self) -> None:
        """Count a step."""

    @abstractmethod
    def call_function(self, function: Function, arguments: tuple[Value, ...], keywords: Mapping[str, Value]) -> Value:
        """Follow a function."""

    @abstractmethod
    def instantiate(self, cls: Class, arguments: tuple[Value, ...], keywords: Mapping[str, Value]) -> Value:
        """Make an object."""

    @abstractmethod
    def record(
        self, called: Value, arguments: tuple[Value, ...], keywords: Mapping[str, Value], result: Value, line: int
    ) -> None:
        """Take a call up in the trace."""

    @abstractmethod
    def import_module(self, name: str) -> Value:
        """Return a module."""

    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """Return what an expression is worth."""
        self.step()
        if isinstance(node, ast.Constant):
            return node.value
        handler = _HANDLERS.get(type(node))
        if handler is None or self._depth > DEEPEST_EXPRESSION * 8:
            return UNKNOWN
        self._depth += 1
        try:
            found: Value = getattr(self, handler)(node, scope)
            return found
        finally:
            self._depth -= 1

    # Names.

    def look_up(self, name: str, scope: Scope) -> Value:
        """Return what a name stands for."""
        each: Scope | None = scope
        while each is not None:
            if name in each.names and (
                each.owner is None or each is scope or each.this is not None or each.outer is None
            ):
                return each.names[name]
            each = each.outer
        names = scope.module.names
        return names[name] if name in names else self.external(name)

    def assign_name(self, name: str, value: Value, scope: Scope) -> None:
        """Set a name where the scope says that it lives."""
        if name in scope.globals_:
            scope.module.names[name] = value
        elif name in scope.nonlocals:
            outer = scope.outer
            while outer is not None and name not in outer.names:
                outer = outer.outer
            (outer or scope).names[name] = value
        else:
            scope.names[name] = value

    def external(self, name: str) -> Value:
        """Return a name of a library, or the model of it."""
        if name in ATTRIBUTES:
            return ATTRIBUTES[name](self)
        model = EXTERNALS.get(name)
        return Model(name, model) if model else Term("external", name)

    def store(self, target: ast.expr, value: Value, scope: Scope) -> None:
        """Assign to a name, an attribute, an entry or a pattern of them."""
        if isinstance(target, ast.Name):
            self.assign_name(target.id, value, scope)
        elif isinstance(target, ast.Attribute):
            self.set_attribute(self.evaluate(target.value, scope), target.attr, value)
        elif isinstance(target, ast.Subscript):
            self._set_item(self.evaluate(target.value, scope), self.evaluate(target.slice, scope), value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for place, each in enumerate(target.elts):
                inner = each.value if isinstance(each, ast.Starred) else each
                self.store(
                    inner, operations.item(value, place) if not isinstance(each, ast.Starred) else UNKNOWN, scope
                )

    def set_attribute(self, owner: Value, name: str, value: Value) -> None:
        """Set an attribute of an object or a configuration."""
        for each in alternatives(owner):
            if isinstance(each, Instance):
                each.names[name] = value
            elif isinstance(each, Config):
                each[name] = value
            elif isinstance(each, (Class, Module)):
                each.names[name] = value

    def _set_item(self, owner: Value, key: Value, value: Value) -> None:
        if isinstance(owner, Instance) and "__setitem__" not in owner.names and operations.is_scalar(key):
            method = owner.cls.find("__setitem__")
            if isinstance(method, Function):
                self.call_function(self.bind(method, owner, owner.cls), (key, value), {})
        elif (isinstance(owner, dict) and operations.is_scalar(key) and len(owner) < operations.MOST_ITEMS) or (
            isinstance(owner, list) and isinstance(key, int) and -len(owner) <= key < len(owner)
        ):
            owner[key] = value

    def attribute(self, owner: Value, name: str) -> Value:  # noqa: C901, PLR0911  # a list of cases
        """Return `owner.name`."""
        if isinstance(owner, Term):
            if owner.kind == "choice":
                return choice(*(self.attribute(each, name) for each in owner.parts[:4]))
            if owner.kind == "external":
                return self.external(f"{owner.name}.{name}")
            known = path_attribute(owner, name) if is_path(owner) else UNKNOWN
            return Term("attribute", name, (owner,)) if known is UNKNOWN else known
        if isinstance(owner, Instance):
            return self._attribute_of_instance(owner, name)
        if isinstance(owner, Module):
            if name in owner.names:
                return owner.names[name]
            inner = self.import_module(f"{owner.name}.{name}")
            return inner if isinstance(inner, Module) else Term("external", f"{owner.name}.{name}")
        if isinstance(owner, Class):
            return self._attribute_of_class(owner, name)
        if isinstance(owner, Config) and (name in owner or name == "__dict__"):
            return owner if name == "__dict__" else owner[name]
        if isinstance(owner, Model):
            return self.external(f"{owner.name}.{name}")
        if isinstance(owner, Config) and name not in _METHODS_OF_CONFIG:
            return None if owner.get("__missing__") == "null" else Term("attribute", name, (owner,))
        return Term("attribute", name, (owner,))

    def _attribute_of_instance(self, owner: Instance, name: str) -> Value:  # noqa: PLR0911  # a list of cases
        if name in owner.names:
            return owner.names[name]
        if name == "__class__":
            return owner.cls
        if name == "__dict__":
            return owner.names
        found = owner.cls.find(name)
        if isinstance(found, Function):
            markers = {dotted(each).rpartition(".")[2] for each in found.decorators}
            if markers & {"property", "cached_property", "lazy_property"}:
                return self.call_function(self.bind(found, owner, owner.cls), (), {})
            if "staticmethod" in markers:
                return found
            return self.bind(found, owner.cls if "classmethod" in markers else owner, found.owner or owner.cls)
        if found is UNKNOWN:
            if name in owner.keywords and owner.cls.external_bases():
                return owner.keywords[name]
            return Term("attribute", name, (owner,))
        return self.default_of(found)

    def default_of(self, value: Value) -> Value:
        """Return the default that a field's declaration stands for."""
        return value

    def _attribute_of_class(self, owner: Class, name: str) -> Value:
        if name == "__name__":
            return owner.name
        found = owner.find(name)
        if isinstance(found, Function) and any(dotted(each).endswith("classmethod") for each in found.decorators):
            return self.bind(found, owner, found.owner or owner)
        enumeration = any("Enum" in base for base in owner.external_bases())
        if enumeration and operations.is_scalar(found):
            return Config(value=found, name=name)
        return Term("attribute", name, (owner,)) if found is UNKNOWN else found

    def bind(self, function: Function, this: Value, owner: Class) -> Function:
        """Return a function as a method of `this`."""
        return Function(
            function.node,
            function.scope,
            function.defaults,
            function.keyword_defaults,
            this,
            function.owner or owner,
            function.decorators,
            function.bound_arguments,
            function.bound_keywords,
        )

    # Calls.

    def call(
        self,
        called: Value,
        arguments: tuple[Value, ...],
        keywords: Mapping[str, Value],
        node: ast.Call | None,
        line: int = 0,
    ) -> Value:
        """Return what a call gives; what leaves the tree is noted."""
        line = node.lineno if node is not None else line
        if isinstance(called, Term) and called.kind == "choice":
            return choice(*(self.call(each, arguments, keywords, node, line) for each in called.parts[:3]))
        if isinstance(called, Function):
            self.record(called, arguments, keywords, UNKNOWN, line)
            if dotted_ends(called.decorators, _COMMANDS):
                from .library.commands import call_command  # noqa: PLC0415  # a command's call goes through its options

                return call_command(self, called, arguments, keywords)
            return self.call_function(called, arguments, keywords)
        if isinstance(called, Class):
            result = self.instantiate(called, arguments, keywords)
            self.record(called, arguments, keywords, result, line)
            return result
        if isinstance(called, Model):
            result = called.call(self, arguments, keywords)
            self.record(called, arguments, keywords, result, line)
            return result
        return self._call_object(called, arguments, keywords, line)

    def _call_object(
        self, called: Value, arguments: tuple[Value, ...], keywords: Mapping[str, Value], line: int
    ) -> Value:
        if isinstance(called, Instance):
            method = called.cls.find("__call__")
            if isinstance(method, Function):
                self.record(called, arguments, keywords, UNKNOWN, line)
                return self.call_function(self.bind(method, called, called.cls), arguments, keywords)
        name = dotted(called).rpartition(".")[2]
        if name in PASSED_THROUGH and (arguments or keywords):
            result: Value = arguments[0] if arguments else next(iter(keywords.values()))
        elif isinstance(called, Term) and called.kind == "call" and _wraps(called) and arguments:
            result = arguments[0]
        else:
            result = Term("call", name, (called, *arguments), dict(keywords))
        self.record(called, arguments, keywords, result, line)
        for each in (*arguments, *keywords.values()):
            if isinstance(each, Function) and name in _CALLERS:
                self.call_function(each, (), {})
        return result

    def call_method(  # noqa: PLR0911  # a list of cases
        self, owner: Value, name: str, arguments: tuple[Value, ...], keywords: Mapping[str, Value], line: int
    ) -> Value:
        """Return what `owner.name(…)` gives."""
        if isinstance(owner, Term) and owner.kind == "choice":
            return choice(*(self.call_method(each, name, arguments, keywords, line) for each in owner.parts[:4]))
        if isinstance(owner, Config) and isinstance(owner.get(name), (Function, Class, Instance)):
            return self.call(owner[name], arguments, keywords, None, line)
        if isinstance(owner, Model) and owner.name == "super":
            return method_of_super(self, owner, name, arguments, keywords)
        special = METHODS.get(name)
        if special is not None:
            result = special(self, owner, arguments, keywords)
            if result is not NotImplemented:
                return result
        if operations.is_plain(owner):
            if name in {"append", "extend", "add", "update"}:
                return _extend(owner, name, arguments, keywords)
            return operations.method(owner, name, arguments, keywords)
        return self.call(self.attribute(owner, name), arguments, keywords, None, line)

    def decorate(self, decorator: Value, function: Value) -> Value:
        """Return what a decorated function or class is: itself, unless the decorator is of the tree and wraps it."""
        if isinstance(decorator, (Function, Instance)):
            made = self.call(decorator, (function,), {}, None)
            return made if isinstance(made, (Function, Class, Instance)) else function
        if isinstance(decorator, Model):
            made = decorator.call(self, (function,), {})
            return made if isinstance(made, (Function, Class, Model)) else function
        if isinstance(decorator, Term) and decorator.kind == "call":
            self.record(decorator, (function,), {}, function, 0)
        return function

    def elements(self, value: Value) -> tuple[list[Value], bool]:
        """Return what a loop goes over, and whether these are known elements; one unknown one where they are not."""
        if isinstance(value, Term) and value.kind == "choice":
            found = next((each for each in value.parts if isinstance(each, (list, tuple, dict))), UNKNOWN)
            return self.elements(found) if found is not UNKNOWN else ([_element(value)], False)
        if isinstance(value, dict):
            value = list(value)
        if isinstance(value, (list, tuple, set)) and value:
            return list(value)[:MOST_ELEMENTS], True
        if isinstance(value, (list, tuple, set)):
            return [], True
        return [_element(value)], False

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
                arguments += list(inner)[:MOST_ELEMENTS] if isinstance(inner, (list, tuple)) else [_element(inner)]
            else:
                arguments.append(self.evaluate(each, scope))
        keywords: dict[str, Value] = {}
        for pair in node.keywords:
            value = self.evaluate(pair.value, scope)
            if pair.arg is not None:
                keywords[pair.arg] = value
            elif isinstance(value, dict):
                keywords.update({key: each for key, each in value.items() if isinstance(key, str)})
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
            result = _compared(operator, left, right)
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
        return operations.item(owner, self.evaluate(node.slice, scope))

    def _slice(self, node: ast.Slice, scope: Scope) -> Value:
        ends = [None if each is None else self.evaluate(each, scope) for each in (node.lower, node.upper, node.step)]
        return slice(*ends) if all(each is None or isinstance(each, int) for each in ends) else UNKNOWN

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
        found: list[Value] = []
        for each in node.elts:
            if isinstance(each, ast.Starred):
                inner = self.evaluate(each.value, scope)
                found += list(inner) if isinstance(inner, (list, tuple)) else [_element(inner)]
            else:
                found.append(self.evaluate(each, scope))
        if isinstance(node, ast.Set):
            return {each for each in found if operations.is_scalar(each)}
        return tuple(found) if isinstance(node, ast.Tuple) else found

    def _dictionary(self, node: ast.Dict, scope: Scope) -> Value:
        found: dict[Any, Value] = {}
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            value = self.evaluate(value_node, scope)
            if key_node is None:
                found.update(value if isinstance(value, dict) else {})
                continue
            key = self.evaluate(key_node, scope)
            if operations.is_scalar(key):
                found[key] = value
        return found

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

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, scope: Scope) -> Value:
        found: list[Value] = []
        known = self._generate(
            node.generators, Scope({}, scope, scope.module), lambda inner: found.append(self.evaluate(node.elt, inner))
        )
        return found if known else Term("operation", "comprehension", tuple(found[:8]))

    def _dictionary_comprehension(self, node: ast.DictComp, scope: Scope) -> Value:
        found: dict[Any, Value] = {}

        def add(inner: Scope) -> None:
            key, value = self.evaluate(node.key, inner), self.evaluate(node.value, inner)
            if operations.is_scalar(key):
                found[key] = value

        known = self._generate(node.generators, Scope({}, scope, scope.module), add)
        return found if known else Term("operation", "comprehension", tuple(list(found.values())[:8]))

    def _generate(self, generators: list[ast.comprehension], scope: Scope, take: Callable[[Scope], None]) -> bool:
        if not generators:
            take(scope)
            return True
        first, *rest = generators
        items, known = self.elements(self.evaluate(first.iter, scope))
        for each in items:
            self.store(first.target, each, scope)
            wanted = [operations.truth(self.evaluate(test, scope)) for test in first.ifs]
            if False not in wanted:
                known = self._generate(rest, scope, take) and known
        return known

    def _walrus(self, node: ast.NamedExpr, scope: Scope) -> Value:
        value = self.evaluate(node.value, scope)
        self.store(node.target, value, scope)
        return value

    def _inner(self, node: ast.Await | ast.Starred | ast.YieldFrom, scope: Scope) -> Value:
        return self.evaluate(node.value, scope)

    def _yield(self, node: ast.Yield, scope: Scope) -> Value:
        if node.value is not None:
            scope.returned.append(self.evaluate(node.value, scope))
        return UNKNOWN


_SCOPED = {"globals", "locals", "vars", "super", "eval", "exec"}
_CALLERS = {
    "step",
    "spawn",
    "notebook_launcher",
    "start_processes",
    "run",
    "launch",
    "launch_agent",
    "agent",
    "debug_launcher",
    "optimize",
    "map_structure",
}
_COMMANDS = ("click.command", "click.option", "click.argument", "app.command", "Typer().command", "click.command()")
_METHODS_OF_CONFIG = {"items", "keys", "values", "get", "update", "pop", "copy", "setdefault"}
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
    ast.YieldFrom: "_inner",
    ast.Yield: "_yield",
}


def dotted_ends(decorators: tuple[Value, ...], endings: tuple[str, ...]) -> bool:
    """Whether a decorator is a call of one of these names."""
    names = [dotted(each.parts[0]) for each in decorators if isinstance(each, Term) and each.kind == "call"]
    return any(name.endswith(endings) for name in names)


def _element(value: Value) -> Value:
    return Term("item", "element", (value,))


def _wraps(called: Term) -> bool:
    """Whether a call's result wraps a function and hands it through: `jax.jit(…)(f)`, `partial(jit, …)(f)`."""
    return dotted(called.parts[0]).rpartition(".")[2] in {"jit", "pmap", "vmap", "wraps", "compile", "no_grad"}


def _extend(owner: Value, name: str, arguments: tuple[Value, ...], keywords: Mapping[str, Value]) -> Value:
    if isinstance(owner, list) and len(owner) < operations.MOST_ITEMS and arguments:
        owner += (
            [arguments[0]]
            if name == "append"
            else list(arguments[0])
            if isinstance(arguments[0], (list, tuple))
            else []
        )
    elif isinstance(owner, dict) and len(owner) < operations.MOST_ITEMS:
        owner.update(arguments[0] if arguments and isinstance(arguments[0], dict) else {}, **keywords)
    elif isinstance(owner, set) and arguments and operations.is_scalar(arguments[0]):
        owner.add(arguments[0])
    return None


def _joined_path(left: Term, right: Value) -> Value:
    pieces = [*left.parts[1:], right]
    return Term("call", "Path", (left.parts[0], *pieces))


def _compared(operator: ast.cmpop, left: Value, right: Value) -> Value:  # noqa: PLR0911  # a list of cases
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
        found_all = {operations.truth(_compared(operator, each, right)) for each in left.parts}
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
    if isinstance(value, Term) or not isinstance(collection, (str, list, tuple, dict, set)):
        return None
    if isinstance(collection, str):
        return value in collection if isinstance(value, str) else None
    if any(isinstance(each, Term) for each in collection):
        return True if any(each == value for each in collection if operations.is_scalar(each)) else None
    try:
        return value in collection
    except TypeError:
        return None
