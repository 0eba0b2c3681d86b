"""Command lines: argparse, click, typer, fire and absl flags, read as those libraries read them."""

import argparse
import contextlib
import io
from collections.abc import Mapping
from typing import Any

from processors.advise.metadata import operations
from processors.advise.metadata.values import UNKNOWN, Class, Config, Function, Instance, Model, Term, Value, dotted

from .configurations import set_path, split_words
from .python import as_config, literal

Program = Any
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]

_ABSENT = "\0absent"
_ACTIONS = {"store_true", "store_false", "store_const", "append", "append_const", "count", "extend", "store"}


class _Option:
    """One `add_argument`."""

    def __init__(self, names: list[str], keywords: Keywords) -> None:
        self.names, self.keywords = names, dict(keywords)

    @property
    def destination(self) -> str:
        given = self.keywords.get("dest")
        if isinstance(given, str):
            return given
        long = [each for each in self.names if each.startswith("--")]
        return (long or self.names)[0].lstrip("-").replace("-", "_")

    @property
    def positional(self) -> bool:
        return not self.names[0].startswith("-")


class _Parser:
    """What is known of an `ArgumentParser`: options, defaults set aside, sub-commands."""

    def __init__(self, program: Program, parents: Value = (), prefix: str = "-") -> None:
        self.options: list[_Option] = []
        self.defaults: dict[str, Value] = {}
        self.commands: dict[str, _Parser] = {}
        self.command_destination: str | None = None
        self.prefix = prefix
        for each in parents if isinstance(parents, (list, tuple)) else ():
            if isinstance(each, Model) and isinstance(each.call, _Parser):
                self.options += each.call.options
                self.defaults.update(each.call.defaults)

    def __call__(self, program: Program, arguments: Arguments, keywords: Keywords) -> Value:
        return UNKNOWN

    def read(self, program: Program, words: list[str]) -> tuple[Config, list[str]]:
        """Return the namespace of `words`, and the words that no option took."""
        parser = argparse.ArgumentParser(prog="", add_help=False, exit_on_error=False, allow_abbrev=True)
        by_destination: dict[str, _Option] = {}
        for option in self.options:
            with contextlib.suppress(TypeError, ValueError, argparse.ArgumentError):
                parser.add_argument(*option.names, **_plain(option))
                by_destination[option.destination] = option
        chosen = next((each for each in words if each in self.commands), None)
        rest: list[str] = []
        if chosen is not None:
            place = words.index(chosen)
            words, rest = words[:place], words[place + 1 :]
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                found, unread = parser.parse_known_args(words)
            raw = vars(found)
        except (argparse.ArgumentError, SystemExit, TypeError, ValueError, RecursionError):
            raw, unread = {}, []
        result = Config()
        for name, option in by_destination.items():
            value = raw.get(name, _ABSENT)
            result[name] = self._value(program, option, value)
        result.update(
            {
                key: each
                for key, each in self.defaults.items()
                if result.get(key) is None or raw.get(key, _ABSENT) == _ABSENT
            }
        )
        if chosen is not None:
            inner, unread = self.commands[chosen].read(program, rest)
            result.update(inner)
            if self.command_destination:
                result[self.command_destination] = chosen
        return result, unread

    def _value(self, program: Program, option: _Option, value: Any) -> Value:
        action = option.keywords.get("action")
        default = option.keywords.get(
            "default", False if action == "store_true" else True if action == "store_false" else None
        )
        if isinstance(value, str) and value == _ABSENT:
            kind = option.keywords.get("type")
            return _converted(program, default, kind) if isinstance(default, str) and kind is not None else default
        if isinstance(action, Term) and "BooleanOptional" in dotted(action):
            return value
        return _converted(program, value, option.keywords.get("type"))


def _plain(option: _Option) -> dict[str, Any]:
    """Return the arguments of the real `add_argument`: texts in, nothing of the program called."""
    keywords: dict[str, Any] = {} if option.positional else {"default": _ABSENT}
    action = option.keywords.get("action", "store")
    if isinstance(action, str) and action in _ACTIONS:
        keywords["action"] = action
    elif isinstance(action, Term) and "BooleanOptional" in dotted(action):
        keywords["action"] = argparse.BooleanOptionalAction
    if keywords.get("action") in {"store_const", "append_const"}:
        keywords["const"] = option.keywords.get("const")
    arity = option.keywords.get("nargs")
    if keywords.get("action", "store") in {"store", "append", "extend"}:
        if (isinstance(arity, int) and 0 < arity <= 64) or arity in {"?", "*", "+", "..."}:
            keywords["nargs"] = arity
            if arity == "?":
                keywords["const"] = option.keywords.get("const")
        elif option.positional and (option.keywords.get("default") is not None):
            keywords["nargs"] = "?"
    if option.positional and keywords.get("nargs") in {"?", "*"}:
        keywords["default"] = _ABSENT
    if not option.positional:
        keywords["dest"] = option.destination
    return keywords


def _converted(program: Program, value: Any, kind: Value) -> Value:
    if isinstance(value, list):
        return [_converted(program, each, kind) for each in value]
    if not isinstance(value, str) or kind is None:
        return value
    name = dotted(kind)
    if name == "bool":
        return bool(value)
    if name in {"int", "float", "str"}:
        return operations.convert(name, value)
    if isinstance(kind, (Function, Class, Model)):
        return program.call(kind, (value,), {}, None)
    return _truth_word(value) if "bool" in name.lower() else value


def _truth_word(value: str) -> Value:
    return {"true": True, "yes": True, "1": True, "t": True, "false": False, "no": False, "0": False, "f": False}.get(
        value.lower(), value
    )


def _parser(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    return Model("argparse.ArgumentParser", _Parser(program, keywords.get("parents", ())))


def _detectron_parser(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`detectron2.engine.default_argument_parser`."""
    parser = _Parser(program)
    whole = Term("external", "int")
    parser.options = [
        _Option(["--config-file"], {"default": ""}),
        _Option(["--resume"], {"action": "store_true"}),
        _Option(["--eval-only"], {"action": "store_true"}),
        _Option(["--num-gpus"], {"type": whole, "default": 1}),
        _Option(["--num-machines"], {"type": whole, "default": 1}),
        _Option(["--machine-rank"], {"type": whole, "default": 0}),
        _Option(["--dist-url"], {}),
        _Option(["opts"], {"nargs": "..."}),
    ]
    return Model("argparse.ArgumentParser", parser)


def _is_parser(owner: Value) -> bool:
    return isinstance(owner, Model) and isinstance(owner.call, _Parser)


def _add_argument(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    if _is_parser(owner):
        names = [each for each in arguments if isinstance(each, str)]
        if names:
            owner.call.options = [each for each in owner.call.options if not set(each.names) & set(names)]
            owner.call.options.append(_Option(names, keywords))
        return UNKNOWN
    if isinstance(owner, Instance) and any(
        base.endswith(("ArgumentParser", "Tap")) for base in owner.cls.external_bases()
    ):
        return _add_argument(program, _inner_parser(program, owner), arguments, keywords)
    return NotImplemented


def _inner_parser(program: Program, owner: Instance) -> Model:
    """Return the parser inside an object of a class that extends `ArgumentParser`."""
    found = owner.names.get("__parser__")
    if not isinstance(found, Model):
        found = Model("argparse.ArgumentParser", _Parser(program, owner.keywords.get("parents", ())))
        owner.names["__parser__"] = found
    return found


def _group(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    return owner if _is_parser(owner) or isinstance(owner, Instance) else NotImplemented


def _parse_args(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    found = _parsed(program, owner, arguments, keywords)
    return found if found is NotImplemented else found[0]


def _parse_known(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    return _parsed(program, owner, arguments, keywords)


def _parsed(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    if isinstance(owner, Instance) and any("ArgumentParser" in base for base in owner.cls.external_bases()):
        owner = _inner_parser(program, owner)
    if not _is_parser(owner):
        return NotImplemented
    given = arguments[0] if arguments else keywords.get("args")
    words = [
        str(each)
        for each in (given if isinstance(given, (list, tuple)) else program.argv[1:])
        if operations.is_scalar(each)
    ]
    found, rest = owner.call.read(program, words)
    target = keywords.get("namespace", arguments[1] if len(arguments) > 1 else None)
    if isinstance(target, Config):
        found = Config({**target, **found})
    program.trace.settings.append(("command line", found))
    return found, rest


def _actions(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    """Return the options of a parser, as a program that looks inside it sees them."""
    if not _is_parser(owner):
        return NotImplemented
    return [
        Config(
            option_strings=each.names,
            dest=each.destination,
            type=each.keywords.get("type"),
            default=each.keywords.get("default"),
        )
        for each in owner.call.options
    ]


def _set_defaults(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    if not _is_parser(owner):
        return NotImplemented
    owner.call.defaults.update({key: each for key, each in keywords.items() if key != "**"})
    return None


def _get_default(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    if not _is_parser(owner):
        return NotImplemented
    return next((each.keywords.get("default") for each in owner.call.options if each.destination == arguments[0]), None)


def _subparsers(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    if not _is_parser(owner):
        return NotImplemented
    destination = keywords.get("dest")
    owner.call.command_destination = destination if isinstance(destination, str) else None
    return owner


def _add_parser(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    if not _is_parser(owner):
        return NotImplemented
    inner = _Parser(program, keywords.get("parents", ()))
    if arguments and isinstance(arguments[0], str):
        owner.call.commands[arguments[0]] = inner
    return Model("argparse.ArgumentParser", inner)


# click and typer


def call_command(program: Program, function: Function, arguments: Arguments, keywords: Keywords) -> Value:
    """Call a function that click's or typer's decorators make a command: its options come from the command line."""
    if arguments or (keywords and set(keywords) - {"standalone_mode", "obj", "args"}):
        return program.call_function(function, arguments, keywords)
    parser = _Parser(program)
    for each in reversed(function.decorators):
        if not isinstance(each, Term) or each.kind != "call":
            continue
        kind = dotted(each.parts[0]).rpartition(".")[2]
        names = [part for part in each.parts[1:] if isinstance(part, str)]
        if kind in {"option", "argument"} and names:
            parser.options.append(_click_option(kind, names, each.keywords))
    if not parser.options:
        return call_signature(program, function, program.argv[1:])
    found, _ = parser.read(program, [each for each in program.argv[1:] if isinstance(each, str)])
    program.trace.settings.append(("command line", found))
    return program.call_function(function, (), dict(found))


def _click_option(kind: str, names: list[str], keywords: Keywords) -> _Option:
    given = {key: each for key, each in keywords.items() if key in {"default", "type", "nargs"}}
    plain = [each for each in names if not each.startswith("-")]
    options = [part for each in names if each.startswith("-") for part in each.split("/")[:1]]
    if kind == "argument":
        return _Option([plain[0].replace("-", "_")], {**given, "dest": UNKNOWN})
    if plain:
        given["dest"] = plain[0]
    if keywords.get("is_flag") is True or any("/" in each for each in names):
        given.pop("type", None)
        given["action"] = "store_true"
    if (
        "type" not in given
        and isinstance(given.get("default"), (int, float))
        and not isinstance(given.get("default"), bool)
    ):
        given["type"] = Term("external", type(given["default"]).__name__)
    if keywords.get("multiple") is True:
        given["action"] = "append"
    return _Option(options or [f"--{plain[0]}"], given)


def call_signature(program: Program, function: Function, words: list[str]) -> Value:
    """Call a function with the words of a command line as fire and typer do: by name, by place, as literals."""
    spec = function.node.args
    names = [each.arg for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    if function.this is not None:
        names = names[1:]
    defaults = dict(
        zip(names[len(names) - len(function.defaults) - len(spec.kwonlyargs) :], function.defaults, strict=False)
    )
    defaults.update(function.keyword_defaults)
    given: dict[str, Value] = {name: _option_default(each) for name, each in defaults.items()}
    named, places = split_words(words)
    given.update({key: each for key, each in named.items() if key in names or spec.kwarg})
    free = [name for name in names if name not in named]
    given.update({name: literal(word) for name, word in zip(free, places, strict=False)})
    program.trace.settings.append(("command line", Config(given)))
    return program.call_function(function, (), given)


def _option_default(value: Value) -> Value:
    """Return the default of `typer.Option(default, …)`."""
    if isinstance(value, Term) and value.kind == "call" and value.name in {"Option", "Argument"}:
        return value.parts[1] if len(value.parts) > 1 else value.keywords.get("default", UNKNOWN)
    return value


def _fire(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    component = arguments[0] if arguments else keywords.get("component", UNKNOWN)
    words = [each for each in program.argv[1:] if isinstance(each, str)]
    if isinstance(component, dict) and words and words[0] in component:
        component, words = component[words[0]], words[1:]
    if isinstance(component, Class):
        component = program.call(component, (), {}, None)
    if isinstance(component, Instance) and words:
        component, words = program.attribute(component, words[0].replace("-", "_")), words[1:]
    if component in (UNKNOWN, None) and words:
        module = program.trace.settings[0][1]
        component, words = module.get(words[0], UNKNOWN), words[1:]
    return call_signature(program, component, words) if isinstance(component, Function) else UNKNOWN


def _typer_run(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    words = [each for each in program.argv[1:] if isinstance(each, str)]
    return call_signature(program, arguments[0], words) if arguments and isinstance(arguments[0], Function) else UNKNOWN


# absl


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
    named, _ = split_words([each for each in program.argv[1:] if isinstance(each, str)])
    value = named.get(name.replace("-", "_"), default)
    if isinstance(default, bool) and isinstance(value, str):
        value = _truth_word(value)
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
    given = (program.argv[:1],) if isinstance(main, Function) and main.node.args.args else ()
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
    **dict.fromkeys(
        (
            "argparse.ArgumentParser",
            "configargparse.ArgumentParser",
            "configargparse.ArgParser",
            "jsonargparse.ArgumentParser",
        ),
        _parser,
    ),
    "detectron2.engine.default_argument_parser": _detectron_parser,
    "fire.Fire": _fire,
    "typer.run": _typer_run,
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
METHODS: Mapping[str, Any] = {
    "add_argument": _add_argument,
    "add_arg": _add_argument,
    "add_argument_group": _group,
    "add_mutually_exclusive_group": _group,
    "parse_args": _parse_args,
    "parse_known_args": _parse_known,
    "_get_optional_actions": _actions,
    "set_defaults": _set_defaults,
    "get_default": _get_default,
    "add_subparsers": _subparsers,
    "add_parser": _add_parser,
}
ATTRIBUTES: Mapping[str, Any] = {
    "absl.flags.FLAGS": _flags,
    "flags.FLAGS": _flags,
    "tensorflow.app.flags.FLAGS": _flags,
}
__all__ = ["ATTRIBUTES", "EXTERNALS", "METHODS", "call_command", "call_signature"]
