"""Calls of functions, classes and methods, and attributes of objects."""

import ast
import dataclasses
import posixpath
from collections.abc import Mapping
from typing import Any

from ..budget import Stopped, exhausted, spared, step
from ..registry import names
from . import operations
from .trace import MOST_CALLS, Call
from .values import (
    UNKNOWN,
    Class,
    Config,
    Function,
    Handler,
    Instance,
    Module,
    Program,
    Scope,
    Term,
    Value,
    alternatives,
    choice,
    dotted,
    is_plain,
    is_scalar,
    names_in,
)

DEEPEST = 28
"""Maximum number of calls inside each other. A limit against endless recursion; deeper calls are not followed."""
MOST_NESTED = 4
"""Number of calls of one function inside itself that are followed."""
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]


def call(program: Program, called: Value, arguments: Arguments = (), keywords: Keywords | None = None) -> Value:
    """Return the result of a call, and record the call. The result of a call that takes too many steps is unknown."""
    loops, size, unsure = program.loops, len(program.loops), program.unsure
    try:
        with spared():
            return choice(*(_call(program, each, arguments, keywords or {}) for each in alternatives(called)[:3]))
    except Stopped:
        if exhausted():
            raise
        program.loops, program.unsure = loops, unsure
        del loops[size:]
        return UNKNOWN


def _handled(handler: Any, *arguments: Value, **keywords: Value) -> Value:
    """Return the result of a handler of a library; `UNKNOWN` if it fails, as on arguments that Python would refuse."""
    try:
        return handler(*arguments, **keywords)
    except Exception:  # noqa: BLE001  the arguments are of a foreign call
        return UNKNOWN


def record(program: Program, called: Value, arguments: Arguments, keywords: Keywords, result: Value) -> Value:
    """Record a call; return its result."""
    bases = tuple(called.external_bases()) if isinstance(called, Class) else ()
    functions = tuple(each.name for each in program.calls)
    made = Call(dotted(called), called, arguments, keywords, result, tuple(program.loops), functions, bases)
    program.trace.calls += [made] if len(program.trace.calls) < MOST_CALLS else []
    return result


def _call(program: Program, called: Value, arguments: Arguments, keywords: Keywords) -> Value:
    step()
    method = called.cls.method("__call__") if isinstance(called, Instance) else None
    if isinstance(called, Function) or method is not None:
        record(program, called, arguments, keywords, UNKNOWN)
        return _enter(program, bind(method, called, called.cls) if method else called, arguments, keywords)
    if isinstance(called, Class):
        return record(program, called, arguments, keywords, _instantiate(program, called, arguments, keywords))
    if isinstance(called, Handler):
        return record(program, called, arguments, keywords, _handled(called.call, program, *arguments, **keywords))
    name = dotted(called).rpartition(".")[2]
    given = [*arguments, *keywords.values()]
    wraps = given and name in names("functions", "wrappers")
    record(
        program,
        called,
        arguments,
        keywords,
        result := given[0] if wraps else Term("call", name, (called, *arguments), dict(keywords)),
    )
    calls = name in names("functions", "callers") or name.endswith("Trainer")
    for each in (one for one in given if calls and isinstance(one, Function)):
        _enter(program, each, (), {})
    return result


def _enter(program: Program, function: Function, arguments: Arguments, keywords: Keywords) -> Value:
    """Follow a function of the tree; return its result."""
    nested = sum(each.node is function.node for each in program.calls)
    if len(program.calls) >= DEEPEST or nested >= MOST_NESTED:
        return Term("call", function.name, (function, *arguments), keywords)
    parameters = _bound(function, arguments, keywords)
    scope = Scope(parameters, function.scope, function.scope.module, function.owner, function.this)
    program.calls.append(function)
    try:
        if isinstance(function.node, ast.Lambda):
            return program.evaluate(function.node.body, scope)
        program.block(function.node.body, scope)
    finally:
        program.calls.pop()
    return choice(*scope.returned) if scope.returned else None


def _bound(function: Function, arguments: Arguments, keywords: Keywords) -> dict[str, Value]:
    """Return the value of each parameter of a function in a call."""
    spec, places, rest = function.node.args, function.parameters, dict(keywords)
    arguments = arguments if function.this is None else (function.this, *arguments)
    found = dict.fromkeys([*places, *(each.arg for each in spec.kwonlyargs)], UNKNOWN) | dict(function.defaults)
    if "**" in rest:  # unknown keywords may replace any default
        found = {name: Term("item", parts=(rest["**"], name)) for name in found}
    found.update(zip(places, arguments, strict=False))
    found.update({name: rest.pop(name) for name in list(found) if name in rest})
    return found | {
        each.arg: held for each, held in ((spec.vararg, arguments[len(places) :]), (spec.kwarg, rest)) if each
    }


def _instantiate(program: Program, cls: Class, arguments: Arguments, keywords: Keywords) -> Instance:
    """Make an object of a class of the tree: its `__init__`, or the fields of a dataclass."""
    step(10)  # looking through the class
    instance = Instance(cls, {}, arguments, dict(keywords))
    init, post = cls.method("__init__"), cls.method("__post_init__")
    if init is not None:
        _enter(program, bind(init, instance, cls), arguments, keywords)
    else:
        declared = (
            node.target
            for each in reversed(cls.lineage())
            for node in each.node.body
            if isinstance(node, ast.AnnAssign)
        )
        fields = {each.id: _default(program, cls.find(each.id)) for each in declared if isinstance(each, ast.Name)}
        fields.update(zip(fields, arguments, strict=False))
        instance.names = {**fields, **{name: each for name, each in keywords.items() if name in fields}}
    if post is not None:
        _enter(program, bind(post, instance, cls), (), {})
    return instance


def _default(program: Program, value: Value) -> Value:
    """Return the default that `field(default=…)`, `Field(…)` and the like stand for; other values themselves."""
    if not (isinstance(value, Term) and value.kind == "call" and value.name in names("functions", "fields")):
        return value
    factory = value.keywords.get("default_factory")
    first = value.parts[1] if len(value.parts) > 1 else UNKNOWN
    return call(program, factory) if factory is not None else value.keywords.get("default", first)


def call_method(program: Program, owner: Value, name: str, arguments: Arguments, keywords: Keywords) -> Value:
    """Return the result of `owner.name(…)`."""
    if isinstance(owner, Term) and owner.kind == "choice":
        return choice(*(call_method(program, each, name, arguments, keywords) for each in owner.parts[:4]))
    if isinstance(owner, Handler) and owner.name == "super":
        return _call_super(program, owner.call, name, arguments, keywords)
    own = isinstance(owner, Instance) and owner.cls.method(name) is not None
    known = None if own else program.methods.get(name)
    result = _handled(known, program, owner, *arguments, **keywords) if known else NotImplemented
    if result is not NotImplemented:
        return result
    if is_plain(owner) and not (isinstance(owner, Config) and isinstance(owner.get(name), (Function, Class, Handler))):
        return _handled(operations.method, owner, name, *arguments, **keywords)
    return call(program, attribute(program, owner, name), arguments, keywords)


def _call_super(program: Program, scope: Scope, name: str, arguments: Arguments, keywords: Keywords) -> Value:
    lineage = scope.owner.lineage() if scope.owner else []
    inherited = next((each for each in lineage[1:] if isinstance(each.names.get(name), Function)), None)
    if inherited is not None:
        return call(program, bind(inherited.names[name], scope.this, inherited), arguments, keywords)
    if isinstance(scope.this, Instance) and name == "__init__":
        scope.this.keywords = {**keywords, **scope.this.keywords}
    base = next((each for cls in lineage[:1] for each in cls.bases if isinstance(each, Term)), UNKNOWN)
    called = Term("attribute", name, (base,))
    return record(program, called, arguments, keywords, Term("call", name, (called, *arguments), keywords))


def bind(function: Function, this: Value, owner: Class) -> Function:
    """Return a function as a method of `this`."""
    return dataclasses.replace(function, this=this, owner=function.owner or owner)


def attribute(program: Program, owner: Value, name: str) -> Value:
    """Return `owner.name`."""
    if isinstance(owner, Term) and owner.kind == "choice":
        return choice(*(attribute(program, each, name) for each in owner.parts[:4]))
    if isinstance(owner, Handler) or (isinstance(owner, Term) and owner.kind == "external"):
        return program.external(f"{owner.name}.{name}")
    if isinstance(owner, Module):
        return program.member(owner, owner.name, name)
    if isinstance(owner, (Instance, Class)):
        return _of_object(program, owner, name)
    if isinstance(owner, str) and name in {"parent", "name", "stem"}:  # of a path
        last = posixpath.basename(owner)
        return {"parent": posixpath.dirname(owner) or ".", "name": last}.get(name, posixpath.splitext(last)[0])
    found = owner.get(name) if isinstance(owner, dict) else owner if is_scalar(owner) and name == "value" else None
    return (
        Term("attribute", name, (owner,))
        if found is None and not (isinstance(owner, dict) and name in owner)
        else found
    )


def _of_object(program: Program, owner: Instance | Class, name: str) -> Value:
    cls = owner.cls if isinstance(owner, Instance) else owner
    special = {"__class__": cls, "__dict__": owner.names, "__name__": cls.name}
    found = owner.names[name] if name in owner.names else special.get(name, cls.find(name))
    if isinstance(found, Function) and (isinstance(owner, Class) or name not in owner.names):
        markers = {dotted(each).rpartition(".")[2] for each in found.decorators}
        if "classmethod" in markers or (isinstance(owner, Instance) and "staticmethod" not in markers):
            found = bind(found, cls if "classmethod" in markers else owner, cls)
        return call(program, found) if any("property" in each for each in markers) else found
    if found is UNKNOWN and isinstance(owner, Instance) and cls.external_bases():
        found = owner.keywords.get(name, UNKNOWN)
    return Term("attribute", name, (owner,)) if found is UNKNOWN else found


def set_attribute(program: Program, owner: Value, name: str, value: Value) -> None:
    """Set an attribute. In a branch that may not be taken the former value stays an alternative."""
    for each in map(names_in, alternatives(owner)):
        if isinstance(each, dict) and isinstance(name, str):
            each[name] = choice(value, each[name]) if program.unsure and name in each else value
