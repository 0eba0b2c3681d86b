"""`argparse`, and libraries that extend it: the real parser reads the words. Types of the program are followed, not called."""

import argparse
from collections.abc import Mapping
from typing import Any, NoReturn

from ..program.operations import convert
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
    is_plain,
    is_scalar,
)

_SWITCHES = ("store_true", "store_false", "count")
_TRUTH = dict.fromkeys(("true", "yes", "1", "t"), True) | dict.fromkeys(("false", "no", "0", "f"), False)


class Parser(argparse.ArgumentParser):
    """A parser that raises an error instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        """Raise the error as a `ValueError`."""
        raise ValueError(message)


def truth_word(value: str) -> Value:
    """Return the truth value of a word; the word if it is none."""
    return _TRUTH.get(value.lower(), value)


def is_parser(value: Value) -> bool:
    """Return whether a value is an `ArgumentParser`."""
    return isinstance(value, Handler) and isinstance(value.call, argparse.ArgumentParser)


def _settings(parents: Value) -> dict[str, Any]:
    """Return the settings of a parser."""
    parents = [each.call for each in parents if is_parser(each)] if isinstance(parents, (list, tuple)) else []
    return {"prog": "", "add_help": False, "parents": parents, "conflict_handler": "resolve"}


def _make_parser(program: Program, *arguments: Value, parents: Value = (), **keywords: Value) -> Handler:
    return Handler("argparse.ArgumentParser", Parser(**_settings(parents)))


def _add_argument(program: Program, owner: Handler, *names: Value, **keywords: Value) -> Value:
    action, kind = keywords.get("action", "store"), keywords.get("type")
    given = {
        key: keywords[key] for key in ("default", "dest", "nargs", "const") if is_plain(keywords.get(key, UNKNOWN))
    }
    given |= {"default": keywords["default"]} if "default" in keywords else {}
    if action in _SWITCHES:
        given = {key: each for key, each in given.items() if key in {"default", "dest"}}
    elif "BooleanOptional" in dotted(action):
        given, action = {"default": given.get("default"), "dest": given.get("dest")}, argparse.BooleanOptionalAction
    else:
        action = action if action in {"store", "append", "extend", "store_const"} else "store"
        given |= (
            {"type": lambda text: _converted(program, text, kind)}
            if action != "store_const" and kind is not None
            else {}
        )
    owner.call.add_argument(*(each for each in names if isinstance(each, str)), action=action, **given)
    return UNKNOWN


def _converted(program: Program, text: str, kind: Value) -> Value:
    name = dotted(kind)
    if name in {"int", "float"}:
        return convert(name, text)
    if isinstance(kind, (Function, Class, Handler)):
        return program.call(kind, (text,))
    return bool(text) if name == "bool" else truth_word(text) if "bool" in name.lower() else text


def _parse_known(program: Program, owner: Handler, args: Value = None, *rest: Value, **keywords: Value) -> Value:
    words = [str(each) for each in (args if isinstance(args, (list, tuple)) else program.words) if is_scalar(each)]
    try:
        read, unread = owner.call.parse_known_args(words)
    except (ValueError, argparse.ArgumentError):
        read, unread = argparse.Namespace(), []
    found = Config(vars(read))
    program.trace.settings.append(("command line", found))
    return found, unread


def _of_parser(method: Any) -> Any:
    """Return a method of parsers, and of objects of classes of the tree that extend them."""

    def call(program: Program, owner: Value, *arguments: Value, **keywords: Value) -> Value:
        if isinstance(owner, Instance) and any("ArgumentParser" in base for base in owner.cls.external_bases()):
            owner = owner.names.setdefault("__parser__", _make_parser(program, **owner.keywords))
        return method(program, owner, *arguments, **keywords) if is_parser(owner) else NotImplemented

    return call


def _add_subparsers(program: Program, owner: Handler, *, dest: Value = None, **keywords: Value) -> Value:
    program.stored[id(owner.call)] = owner.call.add_subparsers(dest=dest if isinstance(dest, str) else "command")
    return owner


def _add_parser(program: Program, owner: Handler, name: str, *, parents: Value = (), **keywords: Value) -> Value:
    made = program.stored[id(owner.call)].add_parser(name, **_settings(parents))
    return Handler("argparse.ArgumentParser", made)


HANDLERS: Mapping[str, Any] = {
    "argparse.ArgumentParser configargparse.ArgumentParser configargparse.ArgParser jsonargparse.ArgumentParser": _make_parser,
    "argparse.REMAINDER": property(lambda program: argparse.REMAINDER),
}
METHODS: Mapping[str, Any] = {
    "add_argument add_arg": _of_parser(_add_argument),
    "add_argument_group add_mutually_exclusive_group": _of_parser(lambda program, owner, *arguments, **keywords: owner),
    "parse_args": _of_parser(lambda *given, **named: _parse_known(*given, **named)[0]),
    "parse_known_args": _of_parser(_parse_known),
    "set_defaults": _of_parser(lambda program, owner, **keywords: owner.call.set_defaults(**keywords)),
    "add_subparsers": _of_parser(_add_subparsers),
    "add_parser": _of_parser(_add_parser),
}
