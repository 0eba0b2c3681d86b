"""Objects of classes that extend `dict`: their entries are kept with their attributes, as nearly all such classes have it."""

from collections.abc import Mapping
from typing import Any

from . import operations
from .values import UNKNOWN, Config, Instance, Value

_KINDS = ("dict", "OrderedDict", "UserDict", "defaultdict", "EasyDict", "Munch", "Box", "ConfigDict")
_OWN = {
    "__init__": "update",
    "__getitem__": "get",
    "__getattr__": "get",
    "__getattribute__": "get",
    "__contains__": "__contains__",
}
METHODS = frozenset({"get", "keys", "values", "items", "update", "pop", "setdefault", "copy"})


def entries(value: Value) -> dict[Any, Value] | None:
    """Return the entries of a dictionary or of an object of a class that extends one; null for other values."""
    if isinstance(value, dict):
        return value
    return value.names if isinstance(value, Instance) and extends_mapping(value) else None


def extends_mapping(value: Instance) -> bool:
    """Whether an object's class extends `dict`, or a configuration of a library."""
    return any(base.rpartition(".")[2] in _KINDS for base in value.cls.external_bases())


def inherited(owner: Instance, name: str, arguments: tuple[Value, ...], keywords: Mapping[str, Value]) -> Value:
    """Return what the method of `dict` gives that a class did not override."""
    if name == "__setitem__" and len(arguments) == 2 and operations.is_scalar(arguments[0]):
        owner.names[arguments[0]] = arguments[1]
        return None
    if name == "__contains__":
        return arguments[0] in owner.names if arguments and operations.is_scalar(arguments[0]) else UNKNOWN
    name = _OWN.get(name, name)
    if name == "update":
        given = entries(arguments[0]) if arguments else {}
        pairs = arguments[0] if arguments and isinstance(arguments[0], list) else []
        made = {each[0]: each[1] for each in pairs if isinstance(each, tuple) and len(each) == 2}
        owner.names.update({**(given or {}), **made, **keywords})
        return None
    if name == "copy":
        return Config(owner.names)
    return operations.method(owner.names, name, arguments, keywords)


__all__ = ["METHODS", "entries", "extends_mapping", "inherited"]
