"""Closed JSON schemas: the few parts that questions use, and a check of answers against them.

The server is asked to keep to the schema; what comes is checked here again, because a server may ignore what it does not know.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from .prompt import Schema


def closed(properties: Mapping[str, Schema]) -> Schema:
    """Return the schema of an object that has exactly `properties`, as strict structured output asks for."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def one_of(choices: Sequence[str]) -> Schema:
    """Return the schema of a text from a closed list."""
    return {"type": "string", "enum": list(choices)}


def between(low: int, high: int) -> Schema:
    """Return the schema of a whole number, both ends included."""
    return {"type": "integer", "minimum": low, "maximum": high}


def text(longest: int) -> Schema:
    """Return the schema of a text of at most `longest` characters."""
    return {"type": "string", "maxLength": longest}


def several(items: Schema, most: int) -> Schema:
    """Return the schema of a list of at most `most` entries."""
    return {"type": "array", "items": items, "maxItems": most}


def problem(value: Any, schema: Schema, where: str = "answer") -> str:
    """Return in what `value` is outside of `schema`: what was expected, what came; empty where it is inside."""
    kind = schema["type"]
    if kind == "object":
        return _object(value, schema, where)
    if kind == "array":
        return _array(value, schema, where)
    return _integer(value, schema, where) if kind == "integer" else _text(value, schema, where)


def _integer(value: Any, schema: Schema, where: str) -> str:
    low, high = schema["minimum"], schema["maximum"]
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        return f"{where}: expected a whole number from {low} to {high}, got {_shorten(value)}"
    return ""


def _text(value: Any, schema: Schema, where: str) -> str:
    if "enum" in schema:
        known = isinstance(value, str) and value in schema["enum"]
        return "" if known else f"{where}: expected one of {', '.join(schema['enum'])}, got {_shorten(value)}"
    fits = isinstance(value, str) and len(value) <= schema["maxLength"]
    return (
        "" if fits else f"{where}: expected a text of at most {schema['maxLength']} characters, got {_shorten(value)}"
    )


def _object(value: Any, schema: Schema, where: str) -> str:
    wanted = schema["properties"]
    if not isinstance(value, dict) or value.keys() != wanted.keys():
        return f"{where}: expected an object with {', '.join(wanted)}, got {_shorten(value)}"
    found = (problem(value[name], part, f"{where}.{name}") for name, part in wanted.items())
    return next(filter(None, found), "")


def _array(value: Any, schema: Schema, where: str) -> str:
    if not isinstance(value, list) or len(value) > schema["maxItems"]:
        return f"{where}: expected a list of at most {schema['maxItems']} entries, got {_shorten(value)}"
    found = (problem(each, schema["items"], f"{where}[{place}]") for place, each in enumerate(value))
    return next(filter(None, found), "")


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"
