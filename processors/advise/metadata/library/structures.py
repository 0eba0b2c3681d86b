"""Plain data made into objects of the tree's classes: pydantic, dacite, cattrs, msgspec, `dataclasses`.

Fields of a class that are given a dictionary, or a list of them, become objects of the class that the field's annotation names.
"""

import ast
from collections.abc import Mapping
from typing import Any

from ..values import UNKNOWN, Class, Config, Instance, Scope, Value
from .parsing import parse_json, parse_yaml
from .paths import read_text

Program = Any
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]

DEEPEST = 8


def built(program: Program, cls: Class, given: Mapping[str, Value], depth: int = 0) -> Value:
    """Return an object of `cls` with the fields of `given`, and objects in them where fields are of classes of the tree."""
    return program.call(cls, (), nested(program, cls, given, depth), None)


def nested(program: Program, cls: Class, given: Mapping[str, Value], depth: int = 0) -> dict[str, Value]:
    """Return the fields of `given`, as objects where the class says so."""
    kinds = _kinds(program, cls) if depth < DEEPEST else {}
    return {name: _as_kind(program, kinds.get(name), value, depth) for name, value in given.items()}


def _as_kind(program: Program, kind: Class | None, value: Value, depth: int) -> Value:
    if kind is None:
        return value
    if isinstance(value, list):
        return [_as_kind(program, kind, each, depth) for each in value[:64]]
    return built(program, kind, value, depth + 1) if isinstance(value, dict) else value


def _kinds(program: Program, cls: Class) -> dict[str, Class]:
    """Return the class of the tree that each field's annotation names: `X`, `X | None`, `Optional[X]`, `list[X]`, `"X"`."""
    found: dict[str, Class] = {}
    for each in reversed(list(cls.ancestry())):
        scope = Scope(each.module.names, None, each.module)
        for node in each.node.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                named = (_named(program, part, scope) for part in ast.walk(node.annotation))
                kind = next((one for one in named if isinstance(one, Class)), None)
                if kind is not None and not any("Enum" in base for base in kind.external_bases()):
                    found[node.target.id] = kind
    return found


def _named(program: Program, node: ast.AST, scope: Scope) -> Value:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return scope.names.get(node.value)
    return program.evaluate(node, scope) if isinstance(node, (ast.Name, ast.Attribute)) else None


def _validated(read: Any) -> Any:
    def call(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
        if not isinstance(owner, Class) or owner.find(read[0]) is not UNKNOWN:
            return NotImplemented
        given = arguments[0] if arguments else next(iter(keywords.values()), UNKNOWN)
        found = read[1](program, given)
        if isinstance(found, Instance):
            return found
        return built(program, owner, found) if isinstance(found, dict) else NotImplemented

    return call


def _plain(program: Program, value: Value) -> Value:
    return value


def _text(program: Program, value: Value) -> Value:
    return parse_json(value) if isinstance(value, str) else None


def _file(program: Program, value: Value) -> Value:
    text = read_text(program, value)
    return None if text is None else parse_yaml(text)


def _copied(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    """`model.model_copy(update={…})` of pydantic."""
    if not isinstance(owner, Instance) or not any(base.endswith("BaseModel") for base in owner.cls.external_bases()):
        return NotImplemented
    changes = keywords.get("update")
    return _changed(owner, changes if isinstance(changes, dict) else {})


def _dumped(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    """`model.model_dump()` of pydantic."""
    return _dictionary(owner) if isinstance(owner, Instance) else NotImplemented


def _dictionary(value: Value, depth: int = 0) -> Value:
    inner = value.names if isinstance(value, Instance) and depth < DEEPEST else None
    return value if inner is None else {key: _dictionary(each, depth + 1) for key, each in inner.items()}


def _changed(owner: Instance, changes: Mapping[str, Value]) -> Instance:
    return Instance(owner.cls, {**owner.names, **changes}, owner.arguments, {**owner.keywords, **changes})


def _replaced(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`dataclasses.replace(object, field=…)`."""
    owner = arguments[0] if arguments else UNKNOWN
    if isinstance(owner, Config):
        return Config({**owner, **keywords})
    return _changed(owner, keywords) if isinstance(owner, Instance) else owner


def _fields(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`dataclasses.fields(class_or_object)`: the name, the default and the type of each."""
    owner = arguments[0] if arguments else UNKNOWN
    cls = owner.cls if isinstance(owner, Instance) else owner
    if not isinstance(cls, Class):
        return UNKNOWN
    found: dict[str, Config] = {}
    for each in reversed(list(cls.ancestry())):
        scope = Scope(each.module.names, None, each.module)
        for node in each.node.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                name = node.target.id
                default = program.default_of(each.names.get(name, UNKNOWN))
                found[name] = Config(name=name, default=default, type=program.evaluate(node.annotation, scope))
    return list(found.values())


def _structured(class_first: bool) -> Any:
    def call(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
        given = [*arguments, *keywords.values()][:2]
        cls, values = (*(given if class_first else reversed(given)), UNKNOWN, UNKNOWN)[:2]
        return built(program, cls, values) if isinstance(cls, Class) and isinstance(values, dict) else UNKNOWN

    return call


EXTERNALS: Mapping[str, Any] = {
    "dataclasses.replace": _replaced,
    "attrs.evolve": _replaced,
    "attr.evolve": _replaced,
    "dataclasses.fields": _fields,
    "dacite.from_dict": _structured(class_first=True),
    **dict.fromkeys(("cattrs.structure", "cattr.structure", "msgspec.convert"), _structured(class_first=False)),
}
METHODS: Mapping[str, Any] = {
    **{name: _validated((name, _plain)) for name in ("model_validate", "parse_obj", "from_dict")},
    **{name: _validated((name, _text)) for name in ("model_validate_json", "parse_raw", "from_json")},
    "parse_file": _validated(("parse_file", _file)),
    "model_copy": _copied,
    "model_dump": _dumped,
}
__all__ = ["EXTERNALS", "METHODS", "built", "nested"]
