"""Configuration files: YAML, JSON, TOML and Python, and the libraries that merge them (OmegaConf, yacs, MMEngine, ml_collections)."""

import functools
import json
import posixpath
import re
import tomllib
from collections.abc import Mapping
from typing import Any

import yaml

from processors.advise.metadata import operations
from processors.advise.metadata.values import UNKNOWN, Class, Config, Instance, OpenFile, Term, Value

from .python import as_config, copied, literal, path_text, read_text

Program = Any
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]

MOST_NODES = 20_000
DEEPEST = 30
_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*)(?:\.\d*)?[eE][-+]?\d+")
_REFERENCE = re.compile(r"\$\{([\w.]+)\}")
_ANGLED = re.compile(r"<([\w.\[\]]{1,200})>")


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
            return _counted(json.loads(text))
    except (ValueError, RecursionError):
        return parse_yaml(text)
    return parse_yaml(text)


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


def interpolated(root: Value) -> Value:
    """Return a configuration with references such as `${data.size}` replaced by what they name."""

    def found(path: str) -> Value:
        value = root
        for key in path.split("."):
            value = value.get(key, UNKNOWN) if isinstance(value, dict) else UNKNOWN
        return value

    def replaced(value: Value, depth: int) -> Value:
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


def scalar(text: str) -> Value:
    """Return the value of a word of a command line, as YAML and Python read it."""
    found = parse_yaml(text)
    if isinstance(found, str):
        return literal(found)
    return found if found is not None or text.lower() in {"null", "~"} else text


def overrides(words: list[str]) -> Config:
    """Return `a.b=c` words (also `--a.b=c`, `+a.b=c`) as a configuration."""
    result = Config()
    for word in words:
        key, equals, value = word.partition("=")
        if equals and key:
            set_path(result, key.lstrip("-+~"), scalar(value))
    return result


def _load_text(parse: Any) -> Any:
    def call(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
        value = arguments[0] if arguments else next(iter(keywords.values()), UNKNOWN)
        path = value.path if isinstance(value, OpenFile) else None
        text = read_text(program, path) if path is not None else value
        if not isinstance(text, str):
            return Term("call", "load", (UNKNOWN, path if path is not None else value))
        found = parse(text)
        if found is None:
            return UNKNOWN
        if isinstance(found, dict):
            program.trace.settings.append((f"file {path or ''}", found))
        return found

    return call


def _json(text: str) -> Value:
    try:
        return _counted(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _load_path(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    value = arguments[0] if arguments else next(iter(keywords.values()), UNKNOWN)
    path = value.path if isinstance(value, OpenFile) else path_text(value)
    found = load_file(program, path)
    if found is None:
        return Term("call", "load", (UNKNOWN, path))
    found = as_config(found)
    program.trace.settings.append((f"file {path}", found))
    return found


def load_file(program: Program, path: Value) -> Value:
    """Return a configuration file of the tree, with the files that it is based on; null where it cannot be read."""
    return _load_based(program, path, 0)


def _load_based(program: Program, path: Value, depth: int) -> Value:
    if not isinstance(path, str) or depth > 8:
        return None
    if path.endswith(".py"):
        found = _python_file(program, path)
    else:
        text = read_text(program, path)
        found = None if text is None else parse_configuration(path, text)
    if not isinstance(found, dict):
        return found
    bases = found.pop("_base_", None) or found.pop("_BASE_", None) or []
    result: Value = Config()
    for base in bases if isinstance(bases, list) else [bases]:
        if isinstance(base, str):
            inner = _load_based(program, posixpath.join(posixpath.dirname(path), base), depth + 1)
            result = merged(result, inner) if isinstance(inner, dict) else result
    return merged(result, as_config(found))


def _python_file(program: Program, path: str) -> Value:
    name = program.tree.relative(path, program.directory)
    module = program.run_file(name, "config") if name is not None else None
    if module is None:
        return None
    return {key: each for key, each in module.names.items() if key[:2] != "__" and operations.is_plain(each)}


def _create(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    value = arguments[0] if arguments else {}
    if isinstance(value, Class):
        value = program.call(value, (), {}, None)
    return structured(value)


def structured(value: Value, depth: int = 0) -> Value:
    """Return objects of dataclasses, and those inside, as a configuration."""
    if isinstance(value, Instance) and depth < DEEPEST:
        return Config({key: structured(each, depth + 1) for key, each in value.names.items()})
    if isinstance(value, str):
        return as_config(parse_yaml(value)) if ":" in value else value
    return as_config(value)


def _hyperpyyaml(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`load_hyperpyyaml(stream, overrides)`: SpeechBrain's configuration, references and overrides resolved."""
    value = arguments[0] if arguments else keywords.get("yaml_stream", UNKNOWN)
    text = read_text(program, value.path) if isinstance(value, OpenFile) else value
    found = as_config(parse_yaml(text)) if isinstance(text, str) else None
    if not isinstance(found, dict):
        return UNKNOWN
    given, _ = split_words([each for each in program.argv[1:] if isinstance(each, str)])
    found = interpolated(merged(found, {key: each for key, each in given.items() if key in found}))
    program.trace.settings.append(("merged", found))
    return found


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


def _merge(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    result: Value = Config()
    for each in arguments:
        value = structured(each)
        if isinstance(value, dict):
            result = merged(result, value)
    result = interpolated(result)
    program.trace.settings.append(("merged", result))
    return result


def _from_command_line(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    words = arguments[0] if arguments and isinstance(arguments[0], list) else program.argv[1:]
    return overrides([each for each in words if isinstance(each, str)])


def _first(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    return arguments[0] if arguments else UNKNOWN


def _select(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    value, path = (*arguments, UNKNOWN, UNKNOWN)[:2]
    for key in path.split(".") if isinstance(path, str) else []:
        value = value.get(key, keywords.get("default")) if isinstance(value, dict) else UNKNOWN
    return value


def _nothing(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    return None if isinstance(owner, Config) else NotImplemented


def _merge_file(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    if not isinstance(owner, Config):
        return NotImplemented
    found = load_file(program, path_text(arguments[0])) if arguments else None
    if isinstance(found, dict):
        _merge_into(owner, found)
        program.trace.settings.append(("merged", owner))
    return None


def _merge_into(owner: Config, found: dict[Any, Value]) -> None:
    for key, value in found.items():
        inner = owner.get(key)
        if isinstance(inner, Config) and isinstance(value, dict):
            _merge_into(inner, value)
        else:
            tupled = isinstance(value, str) and value.startswith(("(", "["))  # yacs reads texts as Python literals
            owner[key] = literal(value) if tupled else as_config(value)


def _merge_list(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    words = arguments[0] if arguments else UNKNOWN
    if not isinstance(owner, Config) or not isinstance(words, (list, tuple, dict)):
        return NotImplemented if not isinstance(owner, Config) else None
    if isinstance(words, dict):
        pairs = list(words.items())
    elif all(isinstance(each, str) and "=" in each for each in words):
        pairs = [(key, scalar(value)) for key, _, value in (each.partition("=") for each in words)]
    else:
        pairs = [
            (key, scalar(value) if isinstance(value, str) else value)
            for key, value in zip(words[::2], words[1::2], strict=False)
        ]
    for key, value in pairs:
        if isinstance(key, str):
            set_path(owner, key, value)
    program.trace.settings.append(("merged", owner))
    return None


def _merge_other(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    if isinstance(owner, Config) and arguments and isinstance(arguments[0], dict):
        _merge_into(owner, arguments[0])
        return None
    return NotImplemented


def _clone(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    return copied(owner) if isinstance(owner, Config) else NotImplemented


def _detectron(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`detectron2.config.get_cfg`: the defaults that a length, a rate and a batch rest on (its `config/defaults.py`)."""
    found = as_config(
        {
            "MODEL": {
                "META_ARCHITECTURE": "GeneralizedRCNN",
                "WEIGHTS": "",
                "BACKBONE": {},
                "ROI_HEADS": {},
                "RETINANET": {},
            },
            "DATASETS": {"TRAIN": (), "TEST": ()},
            "DATALOADER": {},
            "INPUT": {},
            "SOLVER": {"MAX_ITER": 40_000, "BASE_LR": 0.001, "IMS_PER_BATCH": 16},
            "TEST": {"EVAL_PERIOD": 0},
        }
    )
    program.trace.settings.append(("merged", found))
    return found


EXTERNALS: Mapping[str, Any] = {
    "detectron2.config.get_cfg": _detectron,
    **dict.fromkeys(("json.load", "json.loads", "orjson.loads"), _load_text(_json)),
    **dict.fromkeys(("yaml.load", "yaml.safe_load", "yaml.full_load", "yaml.unsafe_load"), _load_text(parse_yaml)),
    **dict.fromkeys(
        ("toml.load", "tomllib.load", "tomli.load", "tomllib.loads"),
        _load_text(functools.partial(parse_configuration, "a.toml")),
    ),
    **dict.fromkeys(
        (
            "OmegaConf.load",
            "omegaconf.OmegaConf.load",
            "mmengine.Config.fromfile",
            "mmengine.config.Config.fromfile",
            "mmcv.Config.fromfile",
            "mmcv.utils.Config.fromfile",
        ),
        _load_path,
    ),
    **dict.fromkeys(("hyperpyyaml.load_hyperpyyaml", "speechbrain.load_extended_yaml"), _hyperpyyaml),
    "omegaconf.OmegaConf.create": _create,
    "omegaconf.OmegaConf.structured": _create,
    "omegaconf.OmegaConf.merge": _merge,
    "omegaconf.OmegaConf.unsafe_merge": _merge,
    "omegaconf.OmegaConf.from_cli": _from_command_line,
    "omegaconf.OmegaConf.to_container": _first,
    "omegaconf.OmegaConf.to_object": _first,
    "omegaconf.OmegaConf.select": _select,
}
METHODS: Mapping[str, Any] = {
    **dict.fromkeys(("freeze", "defrost", "lock", "unlock", "set_new_allowed"), _nothing),
    "merge_from_file": _merge_file,
    "merge_from_list": _merge_list,
    "merge_from_dict": _merge_list,
    "merge_from_other_cfg": _merge_other,
    "clone": _clone,
    "copy_and_resolve_references": _clone,
}
