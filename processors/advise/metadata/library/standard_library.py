"""Python's standard library: `os`, `sys`, `functools` and the like; `paths` has `pathlib`."""

import ast
import itertools
from collections.abc import Mapping
from typing import Any

from .. import operations
from ..budget import step
from ..values import UNKNOWN, Class, Config, DefaultMapping, Function, Model, Term, Value
from .builtin_functions import converted, import_module

Program = Any
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]


EXIT = Term("external", "sys.exit()")
"""What a call returns that ends the program."""


def _exit(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    return EXIT


def _environment(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    name = arguments[0] if arguments else UNKNOWN
    if isinstance(name, str) and name in program.environment:
        return program.environment[name]
    return arguments[1] if len(arguments) > 1 else None


def _partial(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    if arguments and isinstance(arguments[0], Function):
        first = arguments[0]
        bound = (
            program.bind(first, first.this, first.owner)
            if first.owner
            else Function(
                first.node, first.scope, first.defaults, first.keyword_defaults, first.this, None, first.decorators
            )
        )
        bound.bound_arguments = (*first.bound_arguments, *arguments[1:])
        bound.bound_keywords = {**first.bound_keywords, **keywords}
        return bound
    if arguments and isinstance(arguments[0], Class):
        cls, rest = arguments[0], arguments[1:]
        return Model(
            cls.name, lambda program, more, given: program.call(cls, (*rest, *more), {**keywords, **given}, None)
        )
    return Term("call", "partial", (Term("external", "functools.partial"), *arguments), dict(keywords))


def _reduce(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    if len(arguments) < 2 or not isinstance(arguments[1], (list, tuple)):
        return UNKNOWN
    items = list(arguments[1])[:64]
    result = arguments[2] if len(arguments) > 2 else items.pop(0) if items else UNKNOWN
    for each in items:
        result = program.call(arguments[0], (result, each), {}, None)
    return result


def _get_item(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    return operations.item(arguments[0], arguments[1]) if len(arguments) == 2 else UNKNOWN


def _product(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    if all(isinstance(each, (list, tuple)) for each in arguments):
        return list(itertools.islice(itertools.product(*arguments), 64))
    return UNKNOWN


def _named_tuple(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    fields = arguments[1] if len(arguments) > 1 else ()
    names = fields.replace(",", " ").split() if isinstance(fields, str) else fields

    def make(program: Program, given: Arguments, named: Keywords) -> Value:
        return Config({**dict(zip(names, given, strict=False)), **named})

    return Model("namedtuple", make) if isinstance(names, (list, tuple)) else UNKNOWN


def _default_mapping(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`collections.defaultdict(factory)`."""
    found = DefaultMapping(arguments[1] if len(arguments) > 1 and isinstance(arguments[1], dict) else {})
    if arguments and arguments[0] is not None:
        found.make = lambda: program.call(arguments[0], (), {}, None)
    return found


def _literal(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    text = arguments[0] if arguments else UNKNOWN
    return literal(text) if isinstance(text, str) else text


def literal(text: str) -> Value:
    """Return a text as the Python literal that it is; itself where it is none."""
    if len(text) > 10_000:
        return text
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return text


def copied(value: Value, depth: int = 0) -> Value:
    """Return a copy of collections; other values are themselves."""
    step()
    if isinstance(value, dict) and depth < 20:
        return type(value)({key: copied(each, depth + 1) for key, each in value.items()})
    if isinstance(value, list) and depth < 20:
        return [copied(each, depth + 1) for each in value]
    return value


def _copied(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    return copied(arguments[0] if arguments else UNKNOWN)


EXTERNALS: Mapping[str, Any] = {
    **dict.fromkeys(("exit", "quit", "sys.exit", "os._exit"), _exit),
    **dict.fromkeys(("os.getenv", "os.environ.get"), _environment),
    **dict.fromkeys(("math.ceil", "numpy.ceil"), converted("ceil")),
    "math.floor": converted("floor"),
    "functools.partial": _partial,
    "functools.reduce": _reduce,
    "operator.getitem": _get_item,
    "itertools.product": _product,
    "collections.namedtuple": _named_tuple,
    "collections.defaultdict": _default_mapping,
    "importlib.import_module": import_module,
    "ast.literal_eval": _literal,
    **dict.fromkeys(("copy.copy", "copy.deepcopy"), _copied),
}
ATTRIBUTES: Mapping[str, Any] = {
    "sys.argv": lambda program: program.argv,
    "os.environ": lambda program: program.environment,
    "os.sep": lambda program: "/",
    **dict.fromkeys(("math.inf", "numpy.inf"), lambda program: float("inf")),
    "typing.TYPE_CHECKING": lambda program: False,
}
