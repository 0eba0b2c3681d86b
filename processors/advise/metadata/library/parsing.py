"""Texts as plain values: YAML, JSON, TOML, and the words of a command line."""

import json
import re
import tomllib
from typing import Any

import yaml

from .. import operations
from ..budget import step
from ..values import Value
from .standard_library import literal

MOST_NODES = 20_000
LONGEST_YAML = 200_000
"""Characters. A longer one is data; it would take half a second."""


DEEPEST = 30


_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*)(?:\.\d*)?[eE][-+]?\d+")


_ANGLED = re.compile(r"<([\w.\[\]]{1,200})>")


_TEXT = r"""("(?:[^"\\]|\\.)*+(?:"|\Z))"""
"""A text of JSON; one that nothing ends is read to the end, so that a search takes no longer than what it searches."""
_JSON_COMMENT = re.compile(rf"{_TEXT}|//[^\n]*|/\*(?:.*?\*/|.*)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"{_TEXT}|,\s*+([\]}}])", re.DOTALL)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML without any object: unknown tags are what they stand on."""


def _untagged(loader: Any, suffix: str, node: yaml.Node) -> Any:
    """Return what an unknown tag stands on; HyperPyYAML's as Hydra and OmegaConf would write it (its README)."""
    if suffix in {"!ref", "!copy"} and isinstance(node, yaml.ScalarNode):
        return _ANGLED.sub(lambda match: "${" + match[1].replace("[", ".").replace("]", "") + "}", node.value)
    tag, colon, target = suffix.partition(":")
    made = {"_target_": target} if colon and tag in {"!new", "!name", "!apply"} else {}
    if isinstance(node, yaml.MappingNode):
        return {**made, **loader.construct_mapping(node, deep=True)}
    if made:
        return made
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


_Loader.add_multi_constructor("", _untagged)


def parse_yaml(text: str) -> Value:
    """Return a YAML document as plain values; null where it is not YAML or too large."""
    if len(text) > LONGEST_YAML:
        return None
    step(1 + len(text) // 20)  # what a step of the interpreter takes
    try:
        found = next(iter(yaml.load_all(text, Loader=_Loader)), None)  # a safe loader
    except (yaml.YAMLError, ValueError, RecursionError, TypeError, AttributeError):
        return None
    return _counted(found)


def parse_configuration(name: str, text: str) -> Value:
    """Return a configuration file as plain values by its ending; null where it cannot be read."""
    try:
        if name.endswith(".toml"):
            return tomllib.loads(text)
        if name.endswith((".json", ".json5", ".jsonnet")):
            return _counted(_read_json(text))
    except (ValueError, RecursionError):
        return parse_yaml(text)
    return parse_yaml(text)


def _read_json(text: str) -> Value:
    """Return a JSON document, comments and trailing commas overlooked (JSON5, JSONC).

    Raises:
        ValueError: It is none.
    """
    try:
        return json.loads(text)
    except ValueError:
        bare = _JSON_COMMENT.sub(lambda found: found[1] or "", text)
        return json.loads(_TRAILING_COMMA.sub(lambda found: found[1] or found[2], bare))


def _counted(value: Value) -> Value:
    """Return `value` with plain keys and numbers as written; null where there is too much (aliases may repeat without end)."""
    left = [MOST_NODES]

    def plain(each: Value, depth: int) -> Value:
        left[0] -= 1
        if left[0] < 0 or depth > DEEPEST:
            raise RecursionError
        if isinstance(each, dict):
            return {key: plain(inner, depth + 1) for key, inner in each.items() if operations.is_scalar(key)}
        if isinstance(each, (list, tuple, set)):
            return [plain(inner, depth + 1) for inner in each]
        if isinstance(each, str) and _NUMBER.fullmatch(each):
            return float(each)
        return each if operations.is_scalar(each) else str(each)[:100]

    try:
        return plain(value, 0)
    except RecursionError:
        return None


def scalar(text: str) -> Value:
    """Return the value of a word of a command line, as YAML and Python read it."""
    found = parse_yaml(text)
    if isinstance(found, str):
        return literal(found)
    return found if found is not None or text.lower() in {"null", "~"} else text


def parse_json(text: str) -> Value:
    """Return a JSON document as plain values; null where it is none or too large."""
    try:
        return _counted(_read_json(text))
    except (ValueError, RecursionError):
        return None


def split_words(words: list[str]) -> tuple[dict[str, Value], list[str]]:
    """Return `--name=value`, `--name value` and `--flag` words by name, and the others."""
    named: dict[str, Value] = {}
    places: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if not word.startswith("-") or _is_number(word):
            places.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        name = name.replace("-", "_")
        if equals:
            named[name] = literal(value)
        elif waiting and (not waiting[0].startswith("-") or _is_number(waiting[0])):
            named[name] = literal(waiting.pop(0))
        else:
            named[name.removeprefix("no_") if name.startswith("no_") else name] = not name.startswith("no_")
    return named, places


def _is_number(word: str) -> bool:
    return word.lstrip("-").replace(".", "", 1).replace("e-", "", 1).isdigit()
