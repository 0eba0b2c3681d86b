"""Calls: which function is meant, and what leaves the tree."""

import ast
from abc import abstractmethod
from collections.abc import Mapping

from . import operations
from .attributes import Attributes
from .library import METHODS, PASSED_THROUGH
from .library.argument_parsers import is_parser
from .library.function_commands import call_command, call_group, is_command
from .mappings import METHODS as MAPPING_METHODS
from .mappings import extends_mapping, inherited
from .values import (
    UNKNOWN,
    Class,
    Config,
    Function,
    Instance,
    Model,
    Term,
    Value,
    choice,
    dotted,
)

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
    "transform",
    "transform_with_state",
    "add_event_handler",
    "Engine",
}


_CONFIGURATIONS = ("train_loop_config", "param_space", "config")
"""What a function that a library calls is given (Ray Train's and Ray Tune's documentation)."""


class Calls(Attributes):
    """The part of the interpreter that calls."""

    @abstractmethod
    def instantiate(self, cls: Class, arguments: tuple[Value, ...], keywords: Mapping[str, Value]) -> Value:
        """Make an object."""

    @abstractmethod
    def record(
        self, called: Value, arguments: tuple[Value, ...], keywords: Mapping[str, Value], result: Value, line: int
    ) -> None:
        """Take a call up in the trace."""

    def call(
        self,
        called: Value,
        arguments: tuple[Value, ...],
        keywords: Mapping[str, Value],
        node: ast.Call | None,
        line: int = 0,
    ) -> Value:
        """Return what a call gives; what leaves the tree is noted. The value of one that takes too many steps is unknown."""
        place = f"call of {dotted(called)}"
        return self.sparing(lambda: self._call_known(called, arguments, keywords, node, line), UNKNOWN, place)

    def _call_known(
        self,
        called: Value,
        arguments: tuple[Value, ...],
        keywords: Mapping[str, Value],
        node: ast.Call | None,
        line: int,
    ) -> Value:
        line = node.lineno if node is not None else line
        if isinstance(called, Term) and called.kind == "choice":
            return choice(*(self.call(each, arguments, keywords, node, line) for each in called.parts[:3]))
        if isinstance(called, Function):
            self.record(called, arguments, keywords, UNKNOWN, line)
            if is_command(called):
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
        if dotted(called) == "typer.Typer()" and not arguments:
            return call_group(self, called)
        name = dotted(called).rpartition(".")[2]
        if name.startswith("add_") and "arg" in name and arguments and is_parser(arguments[0]):
            return arguments[0]  # a library adds its options to a parser
        if name in PASSED_THROUGH and (arguments or keywords):
            result: Value = arguments[0] if arguments else next(iter(keywords.values()))
        elif isinstance(called, Term) and called.kind == "call" and _wraps(called) and arguments:
            result = arguments[0]
        else:
            result = Term("call", name, (called, *arguments), dict(keywords))
        self.record(called, arguments, keywords, result, line)
        if name in _CALLERS or name.endswith(("Trainer", "Tuner")):
            given = tuple(keywords[key] for key in _CONFIGURATIONS if key in keywords)[:1]
            for each in (*arguments, *keywords.values()):
                if isinstance(each, Function):
                    self.call_function(each, given if each.node.args.args else (), {})
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
            return _method_of_super(self, owner, name, arguments, keywords)
        own = isinstance(owner, Instance) and isinstance(owner.cls.find(name), Function)
        special = None if own else METHODS.get(name)
        if special is not None:
            result = special(self, owner, arguments, keywords)
            if result is not NotImplemented:
                return result
        if name in MAPPING_METHODS and isinstance(owner, Instance) and extends_mapping(owner) and not _has(owner, name):
            return inherited(owner, name, arguments, keywords)
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


def _has(owner: Instance, name: str) -> bool:
    return name in owner.names or owner.cls.find(name) is not UNKNOWN


def _method_of_super(
    program: "Calls", owner: Model, name: str, arguments: tuple[Value, ...], keywords: Mapping[str, Value]
) -> Value:
    """Call `super().name(…)`, where `owner` is the model of `super()`."""
    lineage, this, bases = owner.call
    for cls in lineage:
        if isinstance(cls.names.get(name), Function):
            return program.call(program.bind(cls.names[name], this, cls), arguments, keywords, None)
    if isinstance(this, Instance) and name == "__setattr__" and len(arguments) == 2:
        return program.set_attribute(this, *arguments)
    if isinstance(this, Instance) and extends_mapping(this):
        return inherited(this, name, arguments, keywords)
    special = METHODS.get(name)
    result = special(program, this, arguments, keywords) if special is not None else NotImplemented
    if result is not NotImplemented:
        return result
    outside = next((each for each in bases if isinstance(each, Term)), UNKNOWN)
    called = Term("attribute", name, (outside,))
    result = Term("call", name, (called, *arguments), keywords)
    program.record(called, arguments, keywords, result, 0)
    if isinstance(this, Instance) and name == "__init__":
        this.keywords = {**this.keywords, **{key: each for key, each in keywords.items() if key not in this.keywords}}
    return result


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
