"""Python's builtin functions, and the methods of every class."""

from collections.abc import Mapping
from typing import Any

from .. import operations
from ..mappings import entries
from ..values import (
    UNKNOWN,
    Class,
    Config,
    Function,
    Instance,
    Model,
    Module,
    Range,
    Term,
    Value,
    choice,
    dotted,
    is_small,
)

Program = Any
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]


def range_of(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`range(…)`."""
    if len(arguments) == 1:
        return Range(0, arguments[0], 1, literal_start=True)
    if len(arguments) in {2, 3}:
        literal = isinstance(arguments[0], int) and arguments[0] in {0, 1}
        return Range(arguments[0], arguments[1], arguments[2] if len(arguments) > 2 else 1, literal_start=literal)
    return UNKNOWN


def _length(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    value = arguments[0] if arguments else UNKNOWN
    if operations.is_plain(value) and hasattr(value, "__len__"):
        return len(value)
    return Term("call", "len", (Term("external", "len"), value))


def converted(kind: str) -> Any:
    """Return the handler of what makes a `kind` of one value, as `int` does."""

    def call(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
        if not arguments:
            return {"int": 0, "float": 0.0, "str": "", "bool": False}.get(kind, UNKNOWN)
        return operations.convert(kind, arguments[0])

    return call


def _extreme(largest: bool) -> Any:
    def call(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
        given = arguments[0] if len(arguments) == 1 and isinstance(arguments[0], (list, tuple)) else arguments
        try:
            if given and all(isinstance(each, (int, float)) for each in given):
                return max(given) if largest else min(given)
        except (TypeError, ValueError):
            return UNKNOWN
        return Term("call", "max" if largest else "min", (UNKNOWN, *given))

    return call


def _collection(kind: type) -> Any:
    def call(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
        if not arguments:
            return dict(keywords) if kind is dict else kind()
        first = arguments[0]
        held = entries(first)
        if held is not None and kind is dict:
            return {**held, **keywords}
        hashes = kind not in {list, tuple}
        if isinstance(first, (list, tuple, set, dict)) and (not hashes or is_small(first)):
            try:
                return kind(first)
            except (TypeError, ValueError):
                return UNKNOWN
        if isinstance(first, Range) and kind is list:
            return first
        return first

    return call


def _getattr(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    if len(arguments) < 2:
        return UNKNOWN
    owner, name = arguments[0], operations.settle(arguments[1])
    if not isinstance(name, str):
        return Term("item", parts=(owner, arguments[1]))
    if isinstance(owner, Term) and owner.kind == "choice":
        owner = next((each for each in owner.parts if not isinstance(each, Term)), owner)
    if len(arguments) > 2 and not _has(owner, name):
        return arguments[2] if not isinstance(owner, Term) else choice(program.attribute(owner, name), arguments[2])
    return program.attribute(owner, name)


def _has(owner: Value, name: str) -> bool:
    if isinstance(owner, Instance):
        return name in owner.names or owner.cls.find(name) is not UNKNOWN
    if isinstance(owner, (Module, Class)):
        return name in owner.names
    return isinstance(owner, Config) and name in owner


def _hasattr(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    owner, name = (*arguments, UNKNOWN, UNKNOWN)[:2]
    if not isinstance(name, str) or isinstance(owner, Term):
        return UNKNOWN
    return _has(owner, name) or (UNKNOWN if isinstance(owner, Instance) and owner.cls.external_bases() else False)


def _setattr(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    if len(arguments) == 3 and isinstance(arguments[1], str):
        program.set_attribute(arguments[0], arguments[1], arguments[2])


def _isinstance(program: Program, arguments: Arguments, keywords: Keywords) -> Value:  # noqa: PLR0911  # a list of cases
    if len(arguments) != 2:
        return UNKNOWN
    value, kinds = arguments
    names = {dotted(each).rpartition(".")[2] for each in (kinds if isinstance(kinds, tuple) else (kinds,))}
    if isinstance(value, Instance):
        lineage = {each.name for each in value.cls.ancestry()}
        lineage |= {each.rpartition(".")[2] for each in value.cls.external_bases()}
        return bool(lineage & names) or (UNKNOWN if value.cls.external_bases() else False)
    if isinstance(value, (Model, Function, Class)):
        return False if names <= {"tuple", "list", "dict", "str", "int", "float", "bool"} else UNKNOWN
    if isinstance(value, Config):
        return bool(names & {"dict", "Mapping", "DictConfig", "Namespace", "ConfigDict", "CfgNode", "CN"}) or UNKNOWN
    if operations.is_plain(value):
        own = {each.__name__ for each in type(value).__mro__}
        extra = {"list": {"Sequence", "Iterable", "ListConfig"}, "str": {"Path"}, "dict": {"Mapping"}}
        if type(value).__name__ in {"str", "dict", "list"} and names & extra[type(value).__name__]:
            return UNKNOWN
        return bool(own & names)
    return UNKNOWN


def _enumerate(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    value = arguments[0] if arguments else UNKNOWN
    if isinstance(value, (list, tuple)):
        return [(place, each) for place, each in enumerate(value[: operations.MOST_ITEMS])]
    return Term("call", "enumerate", (Term("external", "enumerate"), value))


def _zip(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    if arguments and all(isinstance(each, (list, tuple)) for each in arguments):
        return list(zip(*arguments, strict=False))
    return Term("call", "zip", (Term("external", "zip"), *arguments))


def _map(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    if len(arguments) == 2 and isinstance(arguments[1], (list, tuple)):
        return [program.call(arguments[0], (each,), {}, None) for each in arguments[1][:64]]
    return Term("call", "map", (Term("external", "map"), *arguments))


def _sorted(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    value = arguments[0] if arguments else UNKNOWN
    if isinstance(value, (list, tuple, set)) and all(isinstance(each, str) for each in value):
        return sorted(value)
    return value


def _sum(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    value = arguments[0] if arguments else UNKNOWN
    if isinstance(value, (list, tuple)) and value and all(isinstance(each, (int, float)) for each in value):
        return sum(value)
    return Term("call", "sum", (Term("external", "sum"), *arguments))


def _callable(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    value = arguments[0] if arguments else UNKNOWN
    if isinstance(value, (Function, Class, Model)):
        return True
    return False if operations.is_plain(value) else UNKNOWN


def _type(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    if len(arguments) == 3 and isinstance(arguments[2], dict):  # a class of these attributes
        attributes = arguments[2]
        return Model("type", lambda program, given, named: Config(attributes))
    value = arguments[0] if arguments else UNKNOWN
    if isinstance(value, Instance):
        return value.cls
    return program.external(type(value).__name__) if operations.is_plain(value) else UNKNOWN


def import_module(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`__import__(name)`; a relative name is not followed."""
    name = operations.settle(arguments[0]) if arguments else UNKNOWN
    if not isinstance(name, str) or name.startswith("."):
        return UNKNOWN
    return program.import_module(name)


def _subclasses(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    """`cls.__subclasses__()`: of the modules that were followed, in their order."""
    if not isinstance(owner, Class):
        return NotImplemented
    held = (each for module in program.modules.loaded for each in module.names.values())
    return list(dict.fromkeys(each for each in held if isinstance(each, Class) and owner in each.bases))


EXTERNALS: Mapping[str, Any] = {
    "range": range_of,
    "len": _length,
    **{kind: converted(kind) for kind in ("int", "float", "bool", "round")},
    "max": _extreme(largest=True),
    "min": _extreme(largest=False),
    "list": _collection(list),
    "tuple": _collection(tuple),
    "set": _collection(set),
    "dict": _collection(dict),
    "getattr": _getattr,
    **dict.fromkeys(("setattr", "object.__setattr__"), _setattr),
    "hasattr": _hasattr,
    "isinstance": _isinstance,
    "enumerate": _enumerate,
    "zip": _zip,
    "map": _map,
    "sorted": _sorted,
    "sum": _sum,
    "callable": _callable,
    "type": _type,
    "__import__": import_module,
}
ATTRIBUTES: Mapping[str, Any] = {"True": lambda program: True}
METHODS: Mapping[str, Any] = {"__subclasses__": _subclasses}
