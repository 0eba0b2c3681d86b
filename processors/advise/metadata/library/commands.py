"""Command lines that fill dataclasses or the parameters of functions: HfArgumentParser, tyro, fire, absl."""

from collections.abc import Mapping
from typing import Any

from ..program.values import (
    UNKNOWN,
    Class,
    Config,
    Function,
    Handler,
    Instance,
    Program,
    Value,
    dotted,
    is_scalar,
)
from .argument_parsers import truth_word
from .configurations import as_config, load_file, set_path
from .parsing import split_words

_DEFAULTS = {
    "num_train_epochs": 3.0,
    "max_steps": -1,
    "learning_rate": 5e-5,
    "per_device_train_batch_size": 8,
    "do_eval": False,
}
"""Defaults of `transformers.TrainingArguments` (its documentation, 4.x)."""
_RATES = {
    "DPOConfig": 1e-6,
    "GRPOConfig": 1e-6,
    "KTOConfig": 1e-6,
    "ORPOConfig": 1e-6,
    "SFTConfig": 2e-5,
    "RewardConfig": 1e-4,
}
"""Learning rates of trl's configurations (its documentation, 0.1x)."""
_FILES = (".json", ".yaml", ".yml")


def _filled(program: Program, kind: Value, given: Mapping[str, Value]) -> Value:
    """Return an object of a dataclass with the values of `given` that it has, and record it."""
    names = [each.rpartition(".")[2] for each in (kind.external_bases() if isinstance(kind, Class) else [dotted(kind)])]
    base = next((each for each in names if each in _RATES or each.endswith("TrainingArguments")), None)
    defaults = {**_DEFAULTS, "learning_rate": _RATES.get(base, _DEFAULTS["learning_rate"])} if base else {}
    made = program.call(kind) if isinstance(kind, Class) else kind
    if not isinstance(made, Instance):
        found = Config({**defaults, **given})
        program.trace.settings.append(("command line", found))
        return program.record(kind, (), dict(found), found)
    made.names = {**defaults, **made.names}
    for key, value in given.items():
        inner = next((each for each in made.names.values() if isinstance(each, Instance) and key in each.names), made)
        owner = made if key in made.names or defaults else inner
        if key in owner.names or "." in key or defaults:
            set_path(owner, key, _typed(owner.names.get(key), value))
    program.call_method(made, "__post_init__", (), {})
    program.trace.settings.append(("command line", made.names))
    return made


def _typed(default: Value, value: Value) -> Value:
    if isinstance(default, bool) and isinstance(value, str):
        return truth_word(value)
    return str(value) if isinstance(default, str) and is_scalar(value) and value is not None else value


def _read_options(program: Program) -> dict[str, Value]:
    """Return the options of the command line over the configuration file that it names."""
    named, places = split_words(program.words)
    files = [each for each in (named.get("config"), named.get("config_path"), *places) if str(each).endswith(_FILES)]
    return {**(_flat(load_file(program, files[0]) or {}) if files else {}), **named}


def _flat(value: dict[Any, Value], prefix: str = "") -> dict[str, Value]:
    found: dict[str, Value] = {}
    for key, each in value.items():
        found |= _flat(each, f"{prefix}{key}.") if isinstance(each, dict) and each else {f"{prefix}{key}": each}
    return found


def _into_dataclasses(program: Program, owner: Value, *arguments: Value, **keywords: Value) -> Value:
    """`HfArgumentParser(kinds).parse_args_into_dataclasses()`; the call of the handler has the kinds."""
    if not isinstance(owner, Handler) or owner.name != "HfArgumentParser":
        return NotImplemented
    path = next(iter((*arguments, *keywords.values())), None)
    given = (load_file(program, path) if isinstance(path, str) else None) or _read_options(program)
    found = tuple(
        _filled(program, kind, given)
        for kind in (owner.call if isinstance(owner.call, (list, tuple)) else [owner.call])
    )
    return (*found, []) if keywords.get("return_remaining_strings") is True else found


def _cli(
    program: Program, kind: Value = None, *, default: Value = None, config_class: Value = None, **keywords: Value
) -> Value:
    """`tyro.cli(Args)` and the like: dotted options fill nested dataclasses, or the parameters of a function."""
    return (
        _fire(program, kind)
        if isinstance(kind, Function)
        else _filled(program, default or kind or config_class, _read_options(program))
    )


def _fire(program: Program, function: Value, **keywords: Value) -> Value:
    """`fire.Fire(function)`: options and words are the arguments of the function."""
    named, places = split_words(program.words)
    function = function.get(places.pop(0), UNKNOWN) if isinstance(function, dict) and places else function
    if isinstance(function, Function):
        settings = {**function.defaults, **dict(zip(function.parameters, places, strict=False)), **named}
        program.trace.settings.append(("command line", Config(settings)))
    return program.call(function, tuple(places), named)


def _flags(program: Program) -> Config:
    """Return the flags of absl."""
    if "flags" not in program.stored:
        program.stored["flags"] = Config()
        program.trace.settings.append(("command line", program.stored["flags"]))
    found: Config = program.stored["flags"]
    return found


def _define(program: Program, name: str, default: Value = None, *rest: Value, **keywords: Value) -> Value:
    """`flags.DEFINE_integer(name, default, help)`."""
    named, _ = split_words(program.words)
    _flags(program)[name] = _typed(default, named.get(name, False if f"no{name}" in named else default))
    return UNKNOWN


def _define_file(
    program: Program, name: str = "config", default: Value = None, *rest: Value, **keywords: Value
) -> Value:
    """`config_flags.DEFINE_config_file`: the `get_config()` of a file, and `--config.a=b`."""
    named, _ = split_words(program.words)
    path, colon, argument = str(named.get(name, default)).partition(":")
    module = program.run(program.tree.read(program.tree.relative(path, program.directory)), path, "config")
    value = as_config(program.call(module.names["get_config"], (argument,) if colon else ())) if module else Config()
    for key, each in named.items():
        if key.startswith(f"{name}."):
            set_path(value, key.removeprefix(f"{name}."), each)
    _flags(program)[name] = value
    return Config(value=value)


def _run_main(program: Program, main: Value, *rest: Value, **keywords: Value) -> Value:
    """`app.run(main)` of absl."""
    return program.call(main, (program.argv[:1],) if isinstance(main, Function) and main.parameters else ())


_KINDS = ("string", "integer", "float", "bool", "boolean", "enum", "list")
HANDLERS: Mapping[str, Any] = {
    "transformers.HfArgumentParser trl.TrlParser": (
        lambda program, dataclass_types, **keywords: Handler("HfArgumentParser", dataclass_types)
    ),
    "tyro.cli draccus.parse simple_parsing.parse pyrallis.parse chz.entrypoint jsonargparse.CLI": _cli,
    "fire.Fire": _fire,
    " ".join(f"absl.flags.DEFINE_{kind}" for kind in _KINDS): _define,
    "absl.flags.FLAGS": property(_flags),
    "absl.app.run": _run_main,
    "ml_collections.config_flags.DEFINE_config_file": _define_file,
}
METHODS: Mapping[str, Any] = {
    "parse_args_into_dataclasses parse_args_and_config parse_json_file parse_yaml_file": _into_dataclasses
}
