"""absl's flags, and ml_collections' configuration files among them."""

from collections.abc import Mapping
from typing import Any

from ..values import UNKNOWN, Config, Function, Value
from .argument_parsers import truth_word
from .merging import set_path
from .namespaces import as_config
from .parsing import split_words

Program = Any
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]


def _flags(program: Program) -> Config:
    found = program.stored.get("\0flags")
    if not isinstance(found, Config):
        found = program.stored["\0flags"] = Config()
        program.trace.settings.append(("command line", found))
    return found


def _define(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    name = arguments[0] if arguments else keywords.get("name", UNKNOWN)
    if not isinstance(name, str):
        return UNKNOWN
    default = arguments[1] if len(arguments) > 1 else keywords.get("default")
    program.trace.knows([name])
    named, _ = split_words([each for each in program.argv[1:] if isinstance(each, str)])
    value = named.get(name.replace("-", "_"), default)
    if isinstance(default, bool) and isinstance(value, str):
        value = truth_word(value)
    if isinstance(default, bool) and f"no{name}" in named:
        value = False
    if isinstance(default, str) and not isinstance(value, (str, bool)):
        value = str(value)
    _flags(program)[name] = value
    return Config(value=value, name=name)


def _define_file(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`config_flags.DEFINE_config_file`: `get_config` of the file that `--config=FILE[:argument]` names, then `--config.a=b`."""
    name = arguments[0] if arguments else "config"
    named, _ = split_words([each for each in program.argv[1:] if isinstance(each, str)])
    given = named.get(name, arguments[1] if len(arguments) > 1 else keywords.get("default"))
    if not isinstance(given, str) or not isinstance(name, str):
        return UNKNOWN
    path, colon, argument = given.partition(":")
    file = program.tree.relative(path, program.directory)
    module = program.run_file(file, "config") if file is not None else None
    function = module.names.get("get_config") if module is not None else None
    value = (
        program.call(function, (argument,) if colon else (), {}, None) if isinstance(function, Function) else Config()
    )
    value = as_config(value) if isinstance(value, dict) and not isinstance(value, Config) else value
    for key, each in named.items():
        if key.startswith(f"{name}."):
            set_path(value, key.removeprefix(f"{name}."), each)
    _flags(program)[name] = value
    program.trace.settings.append(("command line", value))
    return Config(value=value, name=name)


def _run_main(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    main = arguments[0] if arguments else keywords.get("main", program.trace.settings[0][1].get("main", UNKNOWN))
    left = [*program.argv[:1], *split_words([each for each in program.argv[1:] if isinstance(each, str)])[1]]
    given = (left,) if isinstance(main, Function) and main.node.args.args else ()
    return program.call(main, given, {}, None)


_DEFINERS = (
    "string",
    "integer",
    "float",
    "bool",
    "boolean",
    "enum",
    "list",
    "multi_string",
    "multi_integer",
    "spaceseplist",
    "enum_class",
)

EXTERNALS: Mapping[str, Any] = {
    **{
        f"{place}.DEFINE_{kind}": _define
        for place in ("absl.flags", "flags", "tf.app.flags", "tensorflow.app.flags")
        for kind in _DEFINERS
    },
    "ml_collections.config_flags.DEFINE_config_file": _define_file,
    "ml_collections.config_flags.config_flags.DEFINE_config_file": _define_file,
    "absl.app.run": _run_main,
    "tf.app.run": _run_main,
}
ATTRIBUTES: Mapping[str, Any] = {
    "absl.flags.FLAGS": _flags,
    "flags.FLAGS": _flags,
    "tensorflow.app.flags.FLAGS": _flags,
}
__all__ = ["ATTRIBUTES", "EXTERNALS"]
