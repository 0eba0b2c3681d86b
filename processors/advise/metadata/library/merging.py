"""Configurations put together: references, overrides, one over another."""

import re

from .. import operations
from ..budget import step
from ..values import UNKNOWN, Config, Instance, Value
from .namespaces import as_config
from .parsing import DEEPEST, scalar
from .standard_library import copied

_REFERENCE = re.compile(r"\$\{([\w.]+)\}")


def interpolated(root: Value) -> Value:
    """Return a configuration with references such as `${data.size}` replaced by what they name."""

    def found(path: str) -> Value:
        value = root
        for key in path.split("."):
            value = value.get(key, UNKNOWN) if isinstance(value, dict) else UNKNOWN
        return value

    def replaced(value: Value, depth: int) -> Value:
        step()
        if depth > DEEPEST:
            return value
        if isinstance(value, dict):
            return type(value)({key: replaced(each, depth + 1) for key, each in value.items()})
        if isinstance(value, list):
            return [replaced(each, depth + 1) for each in value]
        if not isinstance(value, str) or "${" not in value:
            return value
        whole = _REFERENCE.fullmatch(value)
        if whole:
            target = found(whole[1])
            return replaced(target, depth + 8) if target is not UNKNOWN else value
        return _REFERENCE.sub(lambda match: _as_text(replaced(found(match[1]), depth + 8), match[0]), value)[:2_000]

    return replaced(root, 0)


def _as_text(value: Value, otherwise: str) -> str:
    return str(value) if operations.is_scalar(value) else otherwise


def merged(under: Value, over: Value, depth: int = 0) -> Value:
    """Return `under` with the entries of `over` in it, dictionary by dictionary."""
    step()
    if isinstance(under, dict) and isinstance(over, dict) and depth < DEEPEST:
        if over.get("_delete_") is True:
            return as_config({key: each for key, each in over.items() if key != "_delete_"})
        result = Config(under)
        for key, value in over.items():
            result[key] = merged(under[key], value, depth + 1) if key in under else copied(value)
        return result
    return over


def set_path(root: Value, path: str, value: Value) -> None:
    """Set the entry at a dotted path, making the dictionaries on the way."""
    *way, last = path.split(".")
    node = root
    for key in way[:DEEPEST]:
        if isinstance(node, list) and key.isdigit() and int(key) < len(node):
            node = node[int(key)]
            continue
        if isinstance(node, Instance):
            node = node.names.setdefault(key, Config())
            continue
        if not isinstance(node, dict):
            return
        if not isinstance(node.get(key), (dict, list, Instance)):
            node[key] = Config()
        node = node[key]
    if isinstance(node, Instance):
        node.names[last] = value
    elif isinstance(node, dict):
        node[last] = value
    elif isinstance(node, list) and last.isdigit() and int(last) < len(node):
        node[int(last)] = value


def overrides(words: list[str]) -> Config:
    """Return `a.b=c` words (also `--a.b=c`, `+a.b=c`) as a configuration."""
    result = Config()
    for word in words:
        key, equals, value = word.partition("=")
        if equals and key:
            set_path(result, key.lstrip("-+~"), scalar(value))
    return result
