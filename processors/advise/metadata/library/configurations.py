"""Configuration files: YAML, JSON, TOML and Python, and the libraries that merge them (OmegaConf, yacs, MMEngine, ml_collections)."""

import functools
import posixpath
from collections.abc import Mapping
from typing import Any

from .. import operations
from ..budget import step
from ..values import UNKNOWN, Class, Config, Instance, OpenFile, Term, Value
from .merging import interpolated, merged, overrides, set_path
from .namespaces import as_config
from .parsing import DEEPEST, parse_configuration, parse_json, parse_yaml, scalar, split_words
from .paths import path_text, read_text
from .standard_library import copied, literal

Program = Any
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]


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
    step()
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


def _speechbrain_arguments(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`speechbrain.parse_arguments(words)`: the configuration's file, options of the run, and overrides."""
    words = arguments[0] if arguments else keywords.get("arg_list")
    given = words if isinstance(words, list) else program.argv[1:]
    named, places = split_words([each for each in given if isinstance(each, str)])
    return (places[0] if places else UNKNOWN, Config(), Config(named))


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
    **dict.fromkeys(("json.load", "json.loads", "orjson.loads"), _load_text(parse_json)),
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
    **dict.fromkeys(("speechbrain.parse_arguments", "speechbrain.core.parse_arguments"), _speechbrain_arguments),
    **dict.fromkeys(("hyperpyyaml.load_hyperpyyaml", "speechbrain.load_extended_yaml"), _hyperpyyaml),
    "omegaconf.OmegaConf.create": _create,
    "omegaconf.OmegaConf.structured": _create,
    "omegaconf.OmegaConf.merge": _merge,
    "omegaconf.OmegaConf.unsafe_merge": _merge,
    **dict.fromkeys(("omegaconf.OmegaConf.from_cli", "omegaconf.OmegaConf.from_dotlist"), _from_command_line),
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
