"""Python's builtin functions and standard library, as far as they decide on settings. Paths and open files are texts."""

from collections.abc import Mapping
from typing import Any

from ..program import operations
from ..program.values import (
    UNKNOWN,
    Class,
    Function,
    Handler,
    Instance,
    Program,
    Range,
    Term,
    Value,
    choice,
    dotted,
    is_plain,
    is_scalar,
    names_in,
)
from .configurations import as_config
from .parsing import literal, read_text


def _dict(program: Program, values: Value = (), **keywords: Value) -> Value:
    held = names_in(values) or {}
    return {**held, **keywords} if isinstance(held, dict) else held


def _getattr(program: Program, owner: Value, name: Value, *default: Value) -> Value:
    name = operations.settle(name)
    found = program.attribute(owner, name) if isinstance(name, str) else Term("item", parts=(owner, name))
    missing = isinstance(found, Term) and found.kind == "attribute" and default
    return (choice(found, *default) if isinstance(owner, Term) else default[0]) if missing else found


def _hasattr(program: Program, owner: Value, name: str) -> Value:
    found = program.attribute(owner, name)
    return UNKNOWN if isinstance(found, Term) and found.kind == "attribute" else True


def _isinstance(program: Program, value: Value, kinds: Value) -> Value:
    names = {dotted(each).rpartition(".")[2] for each in (kinds if isinstance(kinds, tuple) else (kinds,))}
    if isinstance(value, Instance):
        own = {each.name for each in value.cls.lineage()}
        return bool(own & names) or (UNKNOWN if value.cls.external_bases() else False)
    own = {each.__name__ for each in type(value).__mro__}
    return UNKNOWN if not is_plain(value) else bool(own & names) or (False if is_scalar(value) else UNKNOWN)


def _partial(program: Program, called: Value, *first: Value, **given: Value) -> Value:
    if not isinstance(called, (Function, Class)):
        return Term("call", "partial", (Term("external", "functools.partial"), called, *first), given)
    return Handler(called.name, lambda program, *more, **rest: program.call(called, (*first, *more), {**given, **rest}))


def _exists(program: Program, path: Value) -> Value:
    name = program.tree.relative(operations.settle(path), program.directory)
    return program.tree.is_file(name) or program.tree.is_directory(name) or UNKNOWN


def _read(program: Program, owner: Value) -> Value:
    text = read_text(program, owner) if isinstance(owner, str) else NotImplemented
    return Term("call", "read", (UNKNOWN, owner)) if text is None else text


def _path_itself(program: Program, owner: Value, *arguments: Value, **keywords: Value) -> Value:
    return owner if isinstance(owner, str) or operations.is_join(owner) else NotImplemented


HANDLERS: Mapping[str, Any] = {
    "range tqdm.trange tqdm.auto.trange": lambda program, *ends, **rest: (
        Range(*ends[:2]) if len(ends) > 1 else Range(0, *ends)
    ),
    "dict": _dict,
    "getattr": _getattr,
    "hasattr": _hasattr,
    "isinstance": _isinstance,
    "setattr": lambda program, owner, name, value: program.set_attribute(owner, name, value),
    "enumerate": lambda program, values, start=0: [*enumerate(values)] if isinstance(values, list) else (start, values),
    "functools.partial": _partial,
    "copy.copy copy.deepcopy": lambda program, value: as_config(value) if isinstance(value, dict) else value,
    "ast.literal_eval eval": lambda program, text: literal(text),
    "importlib.import_module __import__": lambda program, name: program.import_module(name.lstrip(".")),
    "os.getenv os.environ.get": lambda program, name, default=None: program.environment.get(name, default),
    "os.environ": property(lambda program: program.environment),
    "os.path.join pathlib.Path": lambda program, *parts: operations.join_paths(*(parts or (".",))),
    "os.path.dirname": lambda program, path: program.attribute(path, "parent"),
    "os.path.basename": lambda program, path: program.attribute(path, "name"),
    "os.path.exists os.path.isfile os.path.isdir": _exists,
    "sys.argv": property(lambda program: program.argv),
}
METHODS: Mapping[str, Any] = {
    "read read_text": _read,
    "open resolve absolute expanduser as_posix": _path_itself,
}
