"""Names and attributes: what each stands for, and what is stored under it."""

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TypeVar

from . import operations
from .budget import TooManySteps, leaving_some, used_up
from .enumerations import is_enumeration, members
from .library import ATTRIBUTES, EXTERNALS
from .library.paths import is_path, path_attribute
from .mappings import extends_mapping
from .modules import Modules
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

T = TypeVar("T")

_METHODS_OF_CONFIG = {"items", "keys", "values", "get", "update", "pop", "copy", "setdefault"}


class Attributes(ABC):
    """The part of the interpreter that looks up and stores."""

    tree: SourceTree
    trace: Trace
    modules: Modules
    directory: str
    argv: list[str]
    environment: dict[str, str]
    processes: int
    devices: int
    loops: list[Loop]
    unsure = 0
    """Branches around the current statement that may not be taken."""

    def sparing(self, part: Callable[[], T], otherwise: T, place: str) -> T:
        """Return what a part of the program gives; `otherwise` where it takes nine tenths of the steps that are left."""
        try:
            with leaving_some():
                return part()
        except TooManySteps as error:
            self.trace.note(error, place)
            if used_up():
                raise
            return otherwise

    @abstractmethod
    def evaluate(self, node: ast.expr, scope: Scope) -> Value:
        """Return what an expression is worth."""

    @abstractmethod
    def call_function(self, function: Function, arguments: tuple[Value, ...], keywords: Mapping[str, Value]) -> Value:
        """Follow a function."""

    @abstractmethod
    def import_module(self, name: str) -> Value:
        """Return a module."""

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
            self._unpack(target.elts, value, scope)

    def _unpack(self, targets: list[ast.expr], value: Value, scope: Scope) -> None:
        """Assign to each of several targets its part of a value; a starred one takes those that are left."""
        starred = next((place for place, each in enumerate(targets) if isinstance(each, ast.Starred)), len(targets))
        after = len(targets) - starred - 1
        for place, each in enumerate(targets):
            if isinstance(each, ast.Starred):
                rest = value[place : len(value) - after] if isinstance(value, (list, tuple)) else UNKNOWN
                self.store(each.value, list(rest) if isinstance(rest, (list, tuple)) else rest, scope)
            else:
                self.store(each, operations.item(value, place if place < starred else place - len(targets)), scope)

    def set_attribute(self, owner: Value, name: str, value: Value) -> None:
        """Set an attribute of an object or a configuration."""
        for each in alternatives(owner):
            if isinstance(each, Instance):
                each.names[name] = self._joined(each.names, name, value)
            elif isinstance(each, Config):
                each[name] = self._joined(each, name, value)
            elif isinstance(each, (Class, Module)):
                each.names[name] = value

    def _joined(self, names: Mapping[str, Value], name: str, value: Value) -> Value:
        """Return what is stored under a name: in a branch that may not be taken the former value stays an alternative."""
        return choice(value, names[name]) if self.unsure and name in names else value

    def _set_item(self, owner: Value, key: Value, value: Value) -> None:
        if isinstance(owner, Instance) and "__setitem__" not in owner.names and operations.is_scalar(key):
            method = owner.cls.find("__setitem__")
            if isinstance(method, Function):
                self.call_function(self.bind(method, owner, owner.cls), (key, value), {})
            elif extends_mapping(owner):
                owner.names[key] = value
        elif (isinstance(owner, dict) and operations.is_scalar(key) and len(owner) < operations.MOST_ITEMS) or (
            isinstance(owner, list) and isinstance(key, int) and -len(owner) <= key < len(owner)
        ):
            owner[key] = value

    def attribute(self, owner: Value, name: str) -> Value:  # noqa: C901, PLR0911, PLR0912  # a list of cases
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
            if name == "__dict__":
                return owner.names
            inner = self.import_module(f"{owner.name}.{name}")
            return inner if isinstance(inner, Module) else Term("external", f"{owner.name}.{name}")
        if isinstance(owner, Class):
            return self._attribute_of_class(owner, name)
        if isinstance(owner, str) and name == "value":  # a program that runs has a member of an enumeration here
            return owner
        if isinstance(owner, Config) and name == "__dict__":
            return owner
        if isinstance(owner, dict) and name in owner:  # a program that runs has a node of a configuration here
            return owner[name]
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
            answers = owner.cls.find("__getattr__")
            if isinstance(answers, Function):
                return self.call_function(self.bind(answers, owner, owner.cls), (name,), {})
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
        if is_enumeration(owner) and operations.is_scalar(found):
            return members(owner).get(name, found)
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
