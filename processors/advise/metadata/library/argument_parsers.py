"""argparse and what extends it (configargparse, jsonargparse, detectron2's parser), read as those libraries read a command line."""

import argparse
import contextlib
import io
from collections.abc import Mapping
from typing import Any

from .. import operations
from ..values import (
    UNKNOWN,
    Class,
    Config,
    Function,
    Instance,
    Model,
    OpenFile,
    Term,
    Value,
    dotted,
)
from .config_arguments import read_options

Program = Any
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]

_ABSENT = "\0absent"
_ACTIONS = {"store_true", "store_false", "store_const", "append", "append_const", "count", "extend", "store"}


class Option:
    """One `add_argument`."""

    def __init__(self, names: list[str], keywords: Keywords) -> None:
        self.names, self.keywords = names, dict(keywords)

    @property
    def destination(self) -> str:
        """Return the name under which the option is kept."""
        given = self.keywords.get("dest")
        if isinstance(given, str):
            return given
        long = [each for each in self.names if each.startswith("--")]
        return (long or self.names)[0].lstrip("-").replace("-", "_")

    @property
    def positional(self) -> bool:
        """Whether it is given by its place."""
        return not self.names[0].startswith("-")


class Parser:
    """What is known of an `ArgumentParser`: options, defaults set aside, sub-commands."""

    def __init__(self, program: Program, parents: Value = (), prefix: str = "-") -> None:
        self.options: list[Option] = []
        self.defaults: dict[str, Value] = {}
        self.commands: dict[str, Parser] = {}
        self.command_destination: str | None = None
        self.prefix = prefix
        self.files: list[Value] = []
        self.groups: list[tuple[str, Any]] = []  # dataclasses whose fields are options, and who fills them
        for each in parents if isinstance(parents, (list, tuple)) else ():
            if isinstance(each, Model) and isinstance(each.call, Parser):
                self.options += each.call.options
                self.defaults.update(each.call.defaults)

    def __call__(self, program: Program, arguments: Arguments, keywords: Keywords) -> Value:
        """Return nothing that is known: a parser is no function."""
        return UNKNOWN

    def read(self, program: Program, words: list[str]) -> tuple[Config, list[str]]:
        """Return the namespace of `words`, and the words that no option took."""
        parser = argparse.ArgumentParser(prog="", add_help=False, exit_on_error=False, allow_abbrev=True)
        by_destination: dict[str, Option] = {}
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
            program.trace.knows(
                name for option in by_destination.values() for name in (*option.names, option.destination)
            )
        except (argparse.ArgumentError, SystemExit, TypeError, ValueError, RecursionError):
            raw, unread = {}, []
        result = Config(
            {
                name: self._value(program, option, raw.get(name, _ABSENT))
                for name, option in by_destination.items()
                if name in raw or option.keywords.get("default") != argparse.SUPPRESS
            }
        )
        for name, value in self._of_files(program, result).items():
            if name in by_destination and raw.get(name, _ABSENT) == _ABSENT:
                kind = by_destination[name].keywords.get("type")
                result[name] = raw[name] = _converted(program, str(value), kind) if kind is not None else value
        for name, filled in self.groups:
            result[name] = filled(program, words)
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

    def _of_files(self, program: Program, result: Config) -> dict[str, Value]:
        """Return what the configuration files set that an option names."""
        files = [each for each in self.options if each.keywords.get("is_config_file") is True]
        paths = [*self.files, *(result.get(each.destination) for each in files)]
        found: dict[str, Value] = {}
        for path in paths:
            found.update(read_options(program, path) if isinstance(path, str) else {})
        return found

    def _value(self, program: Program, option: Option, value: Any) -> Value:
        action = option.keywords.get("action")
        default = option.keywords.get(
            "default", False if action == "store_true" else True if action == "store_false" else None
        )
        if isinstance(value, str) and value == _ABSENT:
            kind = option.keywords.get("type")
            return _converted(program, default, kind) if isinstance(default, str) and kind is not None else default
        if isinstance(action, Term) and "BooleanOptional" in dotted(action):
            return value
        found = _converted(program, value, option.keywords.get("type"))
        if isinstance(action, Class):
            return _acted(program, action, option, found)
        repeated = action in {"append", "extend"} if isinstance(action, str) else False
        return [*default, *found] if repeated and isinstance(default, list) and isinstance(found, list) else found


def _acted(program: Program, action: Class, option: Option, value: Value) -> Value:
    """Return what an action of the tree's own makes of an option's value."""
    namespace = Config({option.destination: option.keywords.get("default")})
    made = program.call(action, (option.names, option.destination), {"dest": option.destination}, None)
    if isinstance(made, Instance):
        made.names.setdefault("dest", option.destination)
    program.call(made, (UNKNOWN, namespace, value, option.names[0]), {}, None)
    found = namespace.get(option.destination)
    return value if found is None else found


def _plain(option: Option) -> dict[str, Any]:
    """Return the arguments of the real `add_argument`: texts in, nothing of the program called."""
    keywords: dict[str, Any] = {} if option.positional else {"default": argparse.SUPPRESS}
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


def _converted(program: Program, value: Any, kind: Value) -> Value:  # noqa: PLR0911  # a list of cases
    if isinstance(value, list):
        return [_converted(program, each, kind) for each in value]
    if not isinstance(value, str) or kind is None:
        return value
    name = dotted(kind)
    if name == "bool":
        return bool(value)
    if name in {"int", "float", "str"}:
        return operations.convert(name, value)
    if isinstance(kind, Term) and kind.kind == "call" and kind.name in {"FileType", "File"}:  # argparse's, click's
        return OpenFile(value)
    if isinstance(kind, (Function, Class, Model)):
        return program.call(kind, (value,), {}, None)
    return truth_word(value) if "bool" in name.lower() else value


def truth_word(value: str) -> Value:
    """Return the truth value that a word stands for; the word where it is none."""
    return {"true": True, "yes": True, "1": True, "t": True, "false": False, "no": False, "0": False, "f": False}.get(
        value.lower(), value
    )


def _parser(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    parser = Parser(program, keywords.get("parents", ()))
    files = keywords.get("default_config_files", [])
    parser.files = list(files) if isinstance(files, (list, tuple)) else []
    return Model("argparse.ArgumentParser", parser)


def _detectron_parser(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`detectron2.engine.default_argument_parser`."""
    parser = Parser(program)
    whole = Term("external", "int")
    parser.options = [
        Option(["--config-file"], {"default": ""}),
        Option(["--resume"], {"action": "store_true"}),
        Option(["--eval-only"], {"action": "store_true"}),
        Option(["--num-gpus"], {"type": whole, "default": 1}),
        Option(["--num-machines"], {"type": whole, "default": 1}),
        Option(["--machine-rank"], {"type": whole, "default": 0}),
        Option(["--dist-url"], {}),
        Option(["opts"], {"nargs": "..."}),
    ]
    return Model("argparse.ArgumentParser", parser)


def _deepspeed_options(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`deepspeed.add_config_arguments(parser)`: the same parser, with the options of its documentation ("Argument Parsing")."""
    owner = arguments[0] if arguments else keywords.get("parser", UNKNOWN)
    if is_parser(owner):
        owner.call.options += [
            Option(["--deepspeed"], {"action": "store_true"}),
            Option(["--deepspeed_config"], {}),
        ]
    return owner


def is_parser(owner: Value) -> bool:
    """Whether a value is an `ArgumentParser`."""
    return isinstance(owner, Model) and isinstance(owner.call, Parser)


def _add_argument(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    if is_parser(owner):
        names = [each for each in arguments if isinstance(each, str)]
        if names:
            owner.call.options = [each for each in owner.call.options if not set(each.names) & set(names)]
            owner.call.options.append(Option(names, keywords))
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
        found = Model("argparse.ArgumentParser", Parser(program, owner.keywords.get("parents", ())))
        owner.names["__parser__"] = found
    return found


def _group(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    return owner if is_parser(owner) or isinstance(owner, Instance) else NotImplemented


def _parse_args(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    found = _parsed(program, owner, arguments, keywords)
    return found if found is NotImplemented else found[0]


def _parse_known(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    return _parsed(program, owner, arguments, keywords)


def _parsed(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    if isinstance(owner, Instance) and any("ArgumentParser" in base for base in owner.cls.external_bases()):
        owner = _inner_parser(program, owner)
    if not is_parser(owner):
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
    if not is_parser(owner):
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
    if not is_parser(owner):
        return NotImplemented
    owner.call.defaults.update({key: each for key, each in keywords.items() if key != "**"})
    return None


def _get_default(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    if not is_parser(owner):
        return NotImplemented
    return next((each.keywords.get("default") for each in owner.call.options if each.destination == arguments[0]), None)


def _subparsers(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    if not is_parser(owner):
        return NotImplemented
    destination = keywords.get("dest")
    owner.call.command_destination = destination if isinstance(destination, str) else None
    return owner


def _add_parser(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    if not is_parser(owner):
        return NotImplemented
    inner = Parser(program, keywords.get("parents", ()))
    if arguments and isinstance(arguments[0], str):
        owner.call.commands[arguments[0]] = inner
    return Model("argparse.ArgumentParser", inner)


EXTERNALS: Mapping[str, Any] = {
    **dict.fromkeys(
        (
            "argparse.ArgumentParser",
            "configargparse.ArgumentParser",
            "configargparse.ArgParser",
            "configargparse.ArgumentParser.ArgumentParser",
            "configargparse.Parser",
            "simple_parsing.ArgumentParser",
            "jsonargparse.ArgumentParser",
        ),
        _parser,
    ),
    "detectron2.engine.default_argument_parser": _detectron_parser,
    "deepspeed.add_config_arguments": _deepspeed_options,
}


def _constant(text: str) -> Any:
    return lambda program: text


ATTRIBUTES: Mapping[str, Any] = {
    f"argparse.{name}": _constant(getattr(argparse, name))
    for name in ("OPTIONAL", "ZERO_OR_MORE", "ONE_OR_MORE", "REMAINDER", "PARSER", "SUPPRESS")
}
METHODS: Mapping[str, Any] = {
    "add_argument": _add_argument,
    **dict.fromkeys(("add", "add_arg"), _add_argument),
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
__all__ = ["ATTRIBUTES", "EXTERNALS", "METHODS", "Option", "Parser", "is_parser", "truth_word"]
