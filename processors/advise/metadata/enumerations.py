"""Enumerations of the tree: members by name and by value. A text that a command line gave in place of a member counts as it."""

from .operations import is_scalar
from .values import Class, Config, Value

_MEMBERS = "\0members"


def is_enumeration(value: Value) -> bool:
    """Whether a value is a class of the tree that extends `Enum`."""
    return isinstance(value, Class) and any(base.endswith(("Enum", "Flag")) for base in value.external_bases())


def members(cls: Class) -> dict[str, Config]:
    """Return the members of an enumeration, each the same object every time."""
    made: dict[str, Config] = cls.names.setdefault(_MEMBERS, {})
    for name, value in list(cls.names.items()):
        if name[:1] not in {"_", "\0"} and is_scalar(value) and name not in made:
            made[name] = Config(value=value, name=name)
    return made


def member_of(cls: Class, value: Value) -> Config | None:
    """Return the member with a value; null without one."""
    return next((each for each in members(cls).values() if is_scalar(value) and each["value"] == value), None)


def member_value(value: Value) -> Value:
    """Return the value of a member; other values are themselves."""
    return value["value"] if isinstance(value, Config) and value.keys() == {"value", "name"} else value
