"""Configuration files and the libraries that merge them: PyYAML, OmegaConf, yacs, MMEngine, and namespaces of all kinds."""

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..budget import step
from ..program.operations import charged
from ..program.values import (
    UNKNOWN,
    Class,
    Config,
    Program,
    Term,
    Value,
    is_plain,
    is_scalar,
    names_in,
)
from ..registry import names
from .parsing import DEEPEST, literal, parse_file, parse_json, parse_toml, parse_yaml, read_text, scalar

_REFERENCE = re.compile(r"\$\{([\w.]+)\}")


def as_config(value: Value, depth: int = 0) -> Value:
    """Return a copy of dictionaries and objects, and those inside, with their entries as attributes."""
    step()
    value = names_in(value)
    if isinstance(value, dict) and depth < DEEPEST:
        return charged(Config({key: as_config(each, depth + 1) for key, each in value.items()}))
    return [as_config(each, depth + 1) for each in value] if isinstance(value, list) and depth < DEEPEST else value


def merged(under: Value, over: Value, depth: int = 0) -> Value:
    """Return `under` with the entries of `over` in it, dictionary by dictionary."""
    if not isinstance(under, dict) or not isinstance(over, dict) or depth > DEEPEST or over.get("_delete_") is True:
        return as_config(over)
    inner = {
        key: merged(under[key], each, depth + 1) if key in under else as_config(each) for key, each in over.items()
    }
    return charged(Config({**under, **inner}))


def interpolated(value: Value, root: Value, depth: int = 0) -> Value:
    """Return a value with references such as `${data.size}` replaced by the values that they name in `root`."""
    step()
    if isinstance(value, dict) and depth < DEEPEST:
        return charged(Config({key: interpolated(each, root, depth + 1) for key, each in value.items()}))
    if isinstance(value, list) and depth < DEEPEST:
        return [interpolated(each, root, depth + 1) for each in value]
    reference = _REFERENCE.search(charged(value)) if isinstance(value, str) and depth < DEEPEST else None
    target = root
    for key in reference[1].split(".") if reference else ():
        target = target.get(key, UNKNOWN) if isinstance(target, dict) else UNKNOWN
    if reference is None or target is UNKNOWN:
        return value
    whole = reference[0] == value or not is_scalar(target)
    return interpolated(target if whole else value.replace(reference[0], str(target))[:2_000], root, depth + 8)


def set_path(root: Value, path: str, value: Value) -> None:
    """Set the entry at a dotted path; missing dictionaries on the way are made."""
    *way, last = path.split(".")[:DEEPEST]
    node = names_in(root)
    for key in way:
        if isinstance(node, dict):
            node[key] = Config() if is_scalar(node.get(key)) else node[key]
            node = names_in(node[key])
    if isinstance(node, dict):
        node[last] = value


def overrides(words: list[str]) -> Config:
    """Return `a.b=c` words (also `--a.b=c`, `+a.b=c`) as a configuration."""
    result = Config()
    for key, equals, value in (word.partition("=") for word in words):
        if equals and key:
            set_path(result, key.lstrip("-+~"), scalar(value))
    return result


def load_file(program: Program, path: Value, depth: int = 0) -> Value:
    """Return a configuration file of the tree merged over the files that its `_base_` names, and record it; null if it cannot be read."""
    text = read_text(program, path) if depth < 8 else None
    if text is not None and path.endswith(".py"):
        module = program.run(text, path, "config")
        found = module and Config(
            {key: each for key, each in module.names.items() if key[:2] != "__" and is_plain(each)}
        )
    else:
        found = None if text is None else parse_file(path, text)
    if not isinstance(found, dict):
        return None
    bases = found.pop("_base_", found.pop("_BASE_", []))
    result: Value = Config()
    for base in bases if isinstance(bases, list) else [bases]:
        result = merged(result, load_file(program, posixpath.join(posixpath.dirname(path), str(base)), depth + 1) or {})
    result = merged(result, found)
    program.trace.settings += [] if depth else [(f"file {path}", interpolated(result, result))]
    return result


def _load(parse: Callable[[str], Value]) -> Callable[..., Value]:
    """Return the handler of a function that parses a text or an open file."""

    def call(program: Program, value: Value, *arguments: Value, **keywords: Value) -> Value:
        text = read_text(program, value)
        found = parse(value if text is None else text) if isinstance(value, str) else None
        program.trace.settings += [(f"file {value[:300]}", found)] if isinstance(found, dict) else []
        return found if is_plain(found) and not is_scalar(found) else Term("call", "load", (UNKNOWN, value))

    return call


def _from_file(program: Program, path: Value, **keywords: Value) -> Value:
    return load_file(program, path) or Term("call", "load", (UNKNOWN, path))


def _create(program: Program, value: Value = None) -> Value:
    value = program.call(value) if isinstance(value, Class) else value or {}
    return as_config(parse_yaml(value) if isinstance(value, str) else value)


def _merge(program: Program, *values: Value) -> Value:
    result: Value = Config()
    for each in (_create(program, value) for value in values):
        result = merged(result, each) if isinstance(each, dict) else result
    program.trace.settings.append(("merged", result := interpolated(result, result)))
    return result


def _from_words(program: Program, words: Value = None) -> Value:
    return overrides([each for each in (words if isinstance(words, list) else program.words) if isinstance(each, str)])


def _merge_into(program: Program, owner: Value, over: Value) -> Value:
    """Merge a configuration into another in place, and record it. yacs reads texts as Python literals."""
    if not isinstance(owner, Config):
        return NotImplemented
    for key, each in merged(owner, over).items() if isinstance(over, dict) else ():
        owner[key] = literal(each) if isinstance(each, str) and each[:1] in {"(", "["} else each
    return program.trace.settings.append(("merged", owner))


def _merge_list(program: Program, owner: Value, words: Value) -> Value:
    pairs = words.items() if isinstance(words, dict) else zip(words[::2], words[1::2], strict=False)
    for key, value in pairs if isinstance(owner, Config) else ():
        set_path(owner, str(key), scalar(value) if isinstance(value, str) else value)
    return _merge_into(program, owner, {})


def _namespace(program: Program, values: Value = None, *rest: Value, **keywords: Value) -> Value:
    return as_config({**(values if isinstance(values, dict) else {}), **keywords})


HANDLERS: Mapping[str, Any] = {
    "json.load json.loads": _load(parse_json),
    "yaml.load yaml.safe_load yaml.full_load yaml.unsafe_load": _load(parse_yaml),
    "toml.load tomllib.load tomli.load tomllib.loads": _load(parse_toml),
    "omegaconf.OmegaConf.load mmengine.Config.fromfile mmengine.config.Config.fromfile mmcv.Config.fromfile": _from_file,
    "omegaconf.OmegaConf.create omegaconf.OmegaConf.structured": _create,
    "omegaconf.OmegaConf.merge omegaconf.OmegaConf.unsafe_merge": _merge,
    "omegaconf.OmegaConf.from_cli omegaconf.OmegaConf.from_dotlist": _from_words,
    "omegaconf.OmegaConf.to_container omegaconf.OmegaConf.to_object": lambda program, value, **keywords: value,
    " ".join(names("functions", "namespaces")): _namespace,
}
METHODS: Mapping[str, Any] = {
    "merge_from_file": lambda program, owner, path: _merge_into(program, owner, load_file(program, path)),
    "merge_from_list merge_from_dict": _merge_list,
    "clone": lambda program, owner: as_config(owner) if isinstance(owner, Config) else NotImplemented,
}
