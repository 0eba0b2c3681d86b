"""Texts as plain values: YAML, JSON, TOML, Python literals, and the words of a command line."""

import ast
import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

import yaml

from ..budget import step
from ..program.values import Config, Program, Value, is_scalar

MOST_NODES = 20_000
"""Maximum number of values in a document. A limit against YAML aliases, which may repeat a value without end."""
LONGEST = 200_000
"""Characters of a document. A longer one is data; reading it would take half a second."""
DEEPEST = 30
"""Maximum depth of a document. A limit against values nested so deep that recursion fails."""
_NUMBER = re.compile(r"[-+]?\d[\d_]*(?:\.\d*)?[eE][-+]?\d+")
"""A number that YAML 1.1 reads as a text, such as `1e-4`."""


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Makes no objects: the value of an unknown tag is the value that it marks."""


def _untagged(loader: Any, suffix: str, node: yaml.Node) -> Any:
    kind = (
        "mapping"
        if isinstance(node, yaml.MappingNode)
        else "sequence"
        if isinstance(node, yaml.SequenceNode)
        else "scalar"
    )
    return getattr(loader, f"construct_{kind}")(node, **({} if kind == "scalar" else {"deep": True}))


_Loader.add_multi_constructor("", _untagged)


def read_text(program: Program, path: Value) -> str | None:
    """Return the text of a file of the tree that the program names; null if there is none."""
    name = program.tree.relative(path, program.directory) if isinstance(path, str) else None
    text: str | None = program.tree.read(name)
    return text


def parse_yaml(text: str) -> Value:
    """Return a YAML document as plain values; null if it is no YAML or too large."""
    return _parsed(text, lambda text: next(iter(yaml.load_all(text, Loader=_Loader)), None))


def parse_json(text: str) -> Value:
    """Return a JSON document as plain values; null if it is none or too large."""
    return _parsed(text, json.loads)


def parse_toml(text: str) -> Value:
    """Return a TOML document as plain values; null if it is none or too large."""
    return _parsed(text, tomllib.loads)


def parse_file(name: str, text: str) -> Value:
    """Return a configuration file as plain values, by its ending; null if it cannot be read."""
    return (parse_toml if name.endswith(".toml") else parse_json if name.endswith(".json") else parse_yaml)(text)


def _parsed(text: str, parse: Callable[[str], Value]) -> Value:
    step(1 + len(text) // 20)
    try:
        return _plain(parse(text), [MOST_NODES], 0) if len(text) <= LONGEST else None
    except (yaml.YAMLError, ValueError, RecursionError, TypeError, AttributeError):
        return None


def _plain(value: Value, left: list[int], depth: int) -> Value:
    """Return dictionaries with their entries as attributes, and texts that are numbers as numbers; raise `ValueError` if there is too much.

    Aliases may repeat without end.
    """
    left[0] -= 1
    if left[0] < 0 or depth > DEEPEST:
        raise ValueError("too many values")
    if isinstance(value, dict):
        return Config({key: _plain(each, left, depth + 1) for key, each in value.items() if is_scalar(key)})
    if isinstance(value, (list, tuple, set)):
        return [_plain(each, left, depth + 1) for each in value]
    number = isinstance(value, str) and len(value) < 40 and _NUMBER.fullmatch(value)
    return float(value) if number else value if is_scalar(value) else str(value)[:100]


def literal(text: Value) -> Value:
    """Return a text as the Python literal that it is; itself if it is none."""
    try:
        return ast.literal_eval(text) if isinstance(text, str) and len(text) < 10_000 else text
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return text


def scalar(text: str) -> Value:
    """Return the value of a word of a command line, as YAML and Python read it."""
    found = parse_yaml(text)
    return (
        literal(found)
        if isinstance(found, str)
        else text
        if found is None and text.lower() not in {"null", "~"}
        else found
    )


def split_words(words: list[str]) -> tuple[dict[str, Value], list[str]]:
    """Return `--name=value`, `--name value` and `--flag` words by name, and the other words."""
    named: dict[str, Value] = {}
    places: list[str] = []
    waiting = list(reversed(words))
    while waiting:
        word = waiting.pop()
        name, equals, value = word.lstrip("-").partition("=")
        name = name.replace("-", "_")
        if not _is_option(word):
            places.append(word)
        elif equals or (waiting and not _is_option(waiting[-1])):
            named[name] = literal(value if equals else waiting.pop())
        else:
            named[name.removeprefix("no_")] = not name.startswith("no_")
    return named, places


def _is_option(word: str) -> bool:
    return word.startswith("-") and not word[1:2].isdigit()
