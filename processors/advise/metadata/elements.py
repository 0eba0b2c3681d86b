"""Lists, dictionaries and comprehensions, and what a loop goes over."""

import ast
from collections.abc import Callable
from typing import Any

from . import operations
from .budget import step
from .calls import Calls
from .enumerations import is_enumeration, member_value, members
from .library.paths import lines_of
from .mappings import entries
from .trace import Loop, source
from .values import (
    UNKNOWN,
    Class,
    OpenFile,
    Scope,
    Term,
    Value,
)

MOST_ELEMENTS = 256


class Collections(Calls):
    """The part of the interpreter that makes collections and goes over them."""

    def elements(self, value: Value) -> tuple[list[Value], bool]:
        """Return what a loop goes over, and whether these are known elements; one unknown one where they are not."""
        if isinstance(value, Term) and value.kind == "choice":
            found = next((each for each in value.parts if isinstance(each, (list, tuple, dict))), UNKNOWN)
            return self.elements(found) if found is not UNKNOWN else ([element(value)], False)
        if isinstance(value, Class) and is_enumeration(value):
            return list(members(value).values()), True
        held = entries(value)
        if held is not None:
            value = list(held)
        if isinstance(value, OpenFile) and (lines := lines_of(self, value)) is not None:
            return lines, True
        if isinstance(value, (list, tuple, set)) and value:
            return list(value)[:MOST_ELEMENTS], True
        if isinstance(value, (list, tuple, set)):
            return [], True
        return [element(value)], False

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
        found: list[Value] = []
        for each in node.elts:
            if isinstance(each, ast.Starred):
                inner = self.evaluate(each.value, scope)
                found += list(inner)[: operations.MOST_ITEMS] if isinstance(inner, (list, tuple)) else [element(inner)]
                step(len(found) // operations.CHARACTERS_A_STEP)
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
                found.update(entries(value) or {})
                continue
            key = operations.as_key(member_value(self.evaluate(key_node, scope)))
            if operations.is_scalar(key):
                found[key] = value
        return found

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
        iterated = self.evaluate(first.iter, scope)
        items, known = self.elements(iterated)
        if self.loops and isinstance(iterated, Term) and iterated.name.endswith("Loader"):
            loop = Loop(
                source(first.target),
                iterated,
                source(first.iter),
                scope.module.file,
                first.iter.lineno,
                tuple(self.loops),
            )
            self.trace.loops.append(loop)
        for each in items:
            self.store(first.target, each, scope)
            wanted = [operations.truth(self.evaluate(test, scope)) for test in first.ifs]
            if False not in wanted:
                known = self._generate(rest, scope, take) and known
        return known


def element(value: Value) -> Value:
    """Return one unknown element of a value."""
    return Term("item", "element", (value,))
