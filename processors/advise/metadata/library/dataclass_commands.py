"""Command lines that fill dataclasses: transformers' HfArgumentParser (and trl's), tyro, draccus, simple-parsing, LightningCLI."""

from collections.abc import Mapping
from typing import Any

from .. import operations
from ..values import UNKNOWN, Class, Config, Function, Instance, Model, Term, Value, dotted
from .argument_parsers import is_parser
from .configurations import load_file
from .hydra import locate
from .merging import interpolated, merged, set_path
from .parsing import scalar, split_words

Program = Any
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]

TRAINING_DEFAULTS: Mapping[str, Value] = {
    "num_train_epochs": 3.0,
    "max_steps": -1,
    "learning_rate": 5e-5,
    "per_device_train_batch_size": 8,
    "per_device_eval_batch_size": 8,
    "gradient_accumulation_steps": 1,
    "do_train": False,
    "do_eval": False,
    "eval_strategy": "no",
    "evaluation_strategy": "no",
    "resume_from_checkpoint": None,
    "local_rank": -1,
    "seed": 42,
}
"""Defaults of `transformers.TrainingArguments` (its documentation, 4.x)."""

_LEARNING_RATES = {
    "SFTConfig": 2e-5,
    "DPOConfig": 1e-6,
    "GRPOConfig": 1e-6,
    "KTOConfig": 1e-6,
    "ORPOConfig": 1e-6,
    "RewardConfig": 1e-4,
}
"""trl's own (its documentation, 0.1x)."""


class _Fields:
    """A parser of dataclasses."""

    def __init__(self, kinds: list[Value]) -> None:
        self.kinds = kinds

    def __call__(self, program: Program, arguments: Arguments, keywords: Keywords) -> Value:
        return UNKNOWN


def is_training_arguments(kind: Value) -> bool:
    """Whether a class is transformers' `TrainingArguments`, extends it, or is one of trl's configurations."""
    names = kind.external_bases() if isinstance(kind, Class) else [dotted(kind)]
    return any(name.endswith(("TrainingArguments", *_LEARNING_RATES, "PPOConfig", "RLOOConfig")) for name in names)


def fill(program: Program, kind: Value, given: Mapping[str, Value]) -> Value:
    """Return an object of `kind` with the fields of `given` that it has."""
    defaults: dict[str, Value] = {}
    if is_training_arguments(kind):
        name = (kind.external_bases()[0] if isinstance(kind, Class) else dotted(kind)).rpartition(".")[2]
        defaults = {**TRAINING_DEFAULTS, "learning_rate": _LEARNING_RATES.get(name, TRAINING_DEFAULTS["learning_rate"])}
    if not isinstance(kind, Class):
        found = Config({**defaults, **given})
        program.record(kind, (), dict(found), found, 0)
        return found
    instance = program.call(kind, (), {}, None)
    if not isinstance(instance, Instance):
        return instance
    own = set(instance.names)
    instance.names = {**defaults, **instance.names}
    for key, value in given.items():
        if key in instance.names or defaults:
            instance.names[key] = _typed(instance.names.get(key), value)
        elif "." in key or key.split(".")[0] in own:
            set_path(instance, key, value)
    post = kind.find("__post_init__")
    if isinstance(post, Function):
        program.call_function(program.bind(post, instance, kind), (), {})
    return instance


def _typed(default: Value, value: Value) -> Value:
    if isinstance(default, bool) and isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower(), value)
    if (
        isinstance(default, str)
        and operations.is_scalar(value)
        and not isinstance(value, (str, bool))
        and value is not None
    ):
        return str(value)
    return value


def _parser(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    kinds = arguments[0] if arguments else keywords.get("dataclass_types", ())
    found = list(kinds) if isinstance(kinds, (list, tuple)) else [kinds]
    return Model("HfArgumentParser", _Fields(found))


def _words(program: Program) -> dict[str, Value]:
    words = [each for each in program.argv[1:] if isinstance(each, str)]
    if len(words) == 1 and words[0].endswith((".json", ".yaml", ".yml")):
        found = load_file(program, words[0])
        return dict(found) if isinstance(found, dict) else {}
    named, places = split_words(words)
    config = named.pop("config", None)
    base = load_file(program, config) if isinstance(config, str) else None
    for each in places:
        if each.endswith((".json", ".yaml", ".yml")) and base is None:
            base = load_file(program, each)
    return {**(base if isinstance(base, dict) else {}), **named}


def _into_dataclasses(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    if isinstance(owner, Instance) and any(each.endswith("ArgumentParser") for each in owner.cls.external_bases()):
        kinds = owner.arguments[0] if owner.arguments else owner.keywords.get("dataclass_types")
        owner = _parser(program, (kinds,), {}) if kinds is not None else owner
    if not isinstance(owner, Model) or not isinstance(owner.call, _Fields):
        return NotImplemented
    given = _words(program)
    path = keywords.get("json_file", keywords.get("yaml_file", arguments[0] if arguments else None))
    if isinstance(path, str):
        found = load_file(program, path)
        given = dict(found) if isinstance(found, dict) else given
    if isinstance(path, dict):
        given = path
    filled = tuple(fill(program, kind, given) for kind in owner.call.kinds)
    for each in filled:
        program.trace.settings.append(("command line", each.names if isinstance(each, Instance) else each))
    if keywords.get("return_remaining_strings") is True:
        return (*filled, [])
    return filled


def _add_arguments(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    """simple-parsing's `parser.add_arguments(Config, "config")`: the fields of a dataclass become options."""
    if not is_parser(owner) or not arguments:
        return NotImplemented
    kind, name = arguments[0], keywords.get("dest", arguments[1] if len(arguments) > 1 else None)

    def filled(program: Program, words: list[str]) -> Value:
        instance = program.call(kind, (), {}, None) if isinstance(kind, Class) else kind
        for key, value in split_words(words)[0].items():
            _set_field(instance, key, value, program)
        return instance

    if isinstance(name, str):
        owner.call.groups.append((name, filled))
    return None


def _cli(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`tyro.cli(Args)`, `draccus.parse`, `simple_parsing.parse`, `chz.entrypoint`: dotted options fill nested dataclasses."""
    kind = arguments[0] if arguments else keywords.get("f", keywords.get("config_class", UNKNOWN))
    named, _ = split_words([each for each in program.argv[1:] if isinstance(each, str)])
    words = [each for each in program.argv[1:] if isinstance(each, str)]
    chosen = next((place for place, each in enumerate(words) if isinstance(kind, dict) and each in kind), None)
    if chosen is not None:
        kind, words = kind[words[chosen]], words[chosen + 1 :]
    if isinstance(kind, Function):
        from .function_commands import call_signature  # noqa: PLC0415

        return call_signature(program, kind, words)
    default = keywords.get("default")
    instance = default if isinstance(default, Instance) else program.call(kind, (), {}, None)
    path = named.pop("config_path", named.pop("config", None))
    base = load_file(program, path) if isinstance(path, str) else None
    for key, value in {**(_flat(base) if isinstance(base, dict) else {}), **named}.items():
        _set_field(instance, key, value, program)
    if isinstance(instance, Instance):
        post = instance.cls.find("__post_init__")
        if isinstance(post, Function) and named:
            program.call_function(program.bind(post, instance, instance.cls), (), {})
        program.trace.settings.append(("command line", instance.names))
    return instance


def _wrap(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`draccus.wrap()`, `pyrallis.wrap()`: the command line fills the dataclass of a function's first parameter."""

    def decorated(program: Program, inner: Arguments, given: Keywords) -> Value:
        function = inner[0] if inner else UNKNOWN
        if not isinstance(function, Function) or not function.node.args.args:
            return function
        annotation = function.node.args.args[0].annotation
        kind = program.evaluate(annotation, function.scope) if annotation is not None else UNKNOWN

        def entered(program: Program, more: Arguments, rest: Keywords) -> Value:
            return program.call_function(function, more or (_cli(program, (kind,), {}),), rest)

        return Model(function.name, entered)

    return Model("wrap", decorated)


def _set_field(instance: Value, key: str, value: Value, program: Program) -> None:
    declared = instance.cls.find(key) if isinstance(instance, Instance) else UNKNOWN
    if isinstance(declared, Term) and declared.name == "subgroups" and isinstance(declared.parts[1], dict):
        kind = declared.parts[1].get(value)
        instance.names[key] = program.call(kind, (), {}, None) if isinstance(kind, Class) else kind
        return
    if isinstance(instance, Instance) and key not in instance.names and "." not in key:
        for inner in instance.names.values():
            if isinstance(inner, Instance) and key in inner.names:
                inner.names[key] = value
        return
    if isinstance(instance, Instance):
        value = _typed(instance.names.get(key), value)
    set_path(instance, key, value)


def _flat(value: dict[Any, Value], prefix: str = "") -> dict[str, Value]:
    found: dict[str, Value] = {}
    for key, each in value.items():
        if isinstance(each, dict) and each:
            found.update(_flat(each, f"{prefix}{key}."))
        else:
            found[f"{prefix}{key}"] = each
    return found


def _lightning(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`LightningCLI(Model, Data)`: `fit --config FILE --model.a=b --trainer.max_epochs=c`; runs `fit`."""
    words = [each for each in program.argv[1:] if isinstance(each, str)]
    configuration: Value = Config()
    named: dict[str, Value] = {}
    while words:
        word = words.pop(0)
        if not word.startswith("-"):
            continue
        key, equals, value = word.lstrip("-").partition("=")
        if not equals and words:
            value = words.pop(0)
        if key in {"config", "c"}:
            found = load_file(program, value)
            configuration = merged(configuration, found.get("fit", found)) if isinstance(found, dict) else configuration
        else:
            named[key] = scalar(value)
    defaults = keywords.get("trainer_defaults", {})
    configuration = merged(Config(trainer=defaults) if isinstance(defaults, dict) else Config(), configuration)
    for key, value in named.items():
        if key in {"model", "data", "optimizer", "lr_scheduler"} and isinstance(value, str):
            set_path(configuration, f"{key}.class_path", value)
        else:
            inside = (
                key.replace(".", ".init_args.", 1) if _has_class(configuration, key) and "init_args" not in key else key
            )
            set_path(configuration, inside, value)
    configuration = interpolated(configuration)
    program.trace.settings.append(("command line", configuration))
    model = _component(program, arguments, 0, keywords.get("model_class"), configuration.get("model", {}))
    data = _component(program, arguments, 1, keywords.get("datamodule_class"), configuration.get("data", {}))
    trainer_settings = configuration.get("trainer", {})
    trainer = program.call(
        Term("external", "lightning.Trainer"),
        (),
        dict(trainer_settings) if isinstance(trainer_settings, dict) else {},
        None,
    )
    if keywords.get("run") is not False:
        program.call_method(trainer, "fit", (model, data), {}, 0)
    return Config(model=model, datamodule=data, trainer=trainer, config=configuration)


def _has_class(configuration: Value, key: str) -> bool:
    inner = configuration.get(key.partition(".")[0])
    return isinstance(inner, dict) and "class_path" in inner


def _component(program: Program, arguments: Arguments, place: int, named: Value, settings: Value) -> Value:
    kind = named if named is not None else arguments[place] if place < len(arguments) else None
    given = dict(settings) if isinstance(settings, dict) else {}
    if isinstance(given.get("class_path"), str):
        kind = locate(program, given["class_path"])
        inside = given.get("init_args", {})
        given = dict(inside) if isinstance(inside, dict) else {}
    if kind is None:
        return UNKNOWN
    given = {key: _nested(program, each) for key, each in given.items()}
    return program.call(kind, (), given, None)


def _nested(program: Program, value: Value) -> Value:
    if isinstance(value, dict) and isinstance(value.get("class_path"), str):
        inside = value.get("init_args", {})
        return program.call(
            locate(program, value["class_path"]), (), dict(inside) if isinstance(inside, dict) else {}, None
        )
    return value


_HF = (
    "transformers.HfArgumentParser",
    "trl.TrlParser",
    "trl.commands.cli_utils.TrlParser",
    "trl.scripts.utils.TrlParser",
    "transformers.hf_argparser.HfArgumentParser",
    "trl.H4ArgumentParser",
)
_TYRO = (
    "tyro.cli",
    "draccus.parse",
    "simple_parsing.parse",
    "pyrallis.parse",
    "chz.entrypoint",
    "chz.nested_entrypoint",
    "jsonargparse.CLI",
    "jsonargparse.auto_cli",
    "tyro.extras.overridable_config_cli",
)
_LIGHTNING = (
    "lightning.pytorch.cli.LightningCLI",
    "pytorch_lightning.cli.LightningCLI",
    "lightning.cli.LightningCLI",
    "pytorch_lightning.utilities.cli.LightningCLI",
    "lightning.LightningCLI",
)

EXTERNALS: Mapping[str, Any] = {
    **dict.fromkeys(_HF, _parser),
    **dict.fromkeys(_TYRO, _cli),
    **dict.fromkeys(("draccus.wrap", "pyrallis.wrap"), _wrap),
    **dict.fromkeys(_LIGHTNING, _lightning),
}
METHODS: Mapping[str, Any] = {
    "add_arguments": _add_arguments,
    "parse_args_into_dataclasses": _into_dataclasses,
    "parse_args_and_config": _into_dataclasses,
    "parse_json_file": _into_dataclasses,
    "parse_yaml_file": _into_dataclasses,
    "parse": _into_dataclasses,
}
SUBCLASSED: Mapping[str, Any] = dict.fromkeys(_LIGHTNING, _lightning)
"""Classes that do their work when they are made, also where a class of the tree extends them."""
__all__ = ["EXTERNALS", "METHODS", "SUBCLASSED", "TRAINING_DEFAULTS", "fill", "is_training_arguments"]
