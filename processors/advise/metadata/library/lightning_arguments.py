"""Lightning before 2.0: parsers that take their options from a class, and classes that take their arguments from a parser.

Its documentation, 1.9, "Trainer.add_argparse_args" and "Trainer.from_argparse_args"; data modules have both, too.
"""

from collections.abc import Mapping
from typing import Any

from ..values import UNKNOWN, Class, Config, Function, Term, Value, dotted
from .argument_parsers import Option, is_parser

Program = Any
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]

_TRAINER = (
    "accumulate_grad_batches",
    "check_val_every_n_epoch",
    "devices",
    "gpus",
    "limit_val_batches",
    "max_epochs",
    "max_steps",
    "num_nodes",
    "val_check_interval",
)
"""Options of the trainer that a length, a batch or a validation rests on."""
_NUMBERS = {"int", "float", "str"}


def _add_options(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    parser = arguments[0] if arguments else keywords.get("parent_parser", UNKNOWN)
    if not is_parser(parser):
        return NotImplemented
    if isinstance(owner, Class) and not isinstance(owner.find("add_argparse_args"), Function):
        parser.call.options += [Option([f"--{name}"], each) for name, each in _signature(program, owner).items()]
        return parser
    if isinstance(owner, Term) and dotted(owner).endswith("Trainer"):
        kind = Term("external", "trainer_option")
        parser.call.options += [Option([f"--{name}"], {"type": kind}) for name in _TRAINER]
        return parser
    return NotImplemented


def _signature(program: Program, cls: Class) -> dict[str, Keywords]:
    """Return the parameters of a class's `__init__` as keywords of `add_argument`."""
    init = cls.find("__init__")
    if not isinstance(init, Function):
        return {}
    names = program.parameters(init, (UNKNOWN,), {})
    found: dict[str, Keywords] = {}
    for each in (*init.node.args.args[1:], *init.node.args.kwonlyargs):
        kind = getattr(each.annotation, "id", None)
        typed = {"type": Term("external", kind)} if kind in _NUMBERS else {}
        default = names.get(each.arg)
        found[each.arg] = {"default": None if default is UNKNOWN else default, **typed}
    return found


def _from_options(program: Program, owner: Value, arguments: Arguments, keywords: Keywords) -> Value:
    given = arguments[0] if arguments else keywords.get("args", UNKNOWN)
    if not isinstance(given, Config):
        return NotImplemented
    if isinstance(owner, Class) and not isinstance(owner.find("from_argparse_args"), Function):
        wanted = set(_signature(program, owner))
    elif isinstance(owner, Term) and dotted(owner).endswith("Trainer"):
        wanted = set(_TRAINER)
    else:
        return NotImplemented
    taken = {key: each for key, each in given.items() if key in wanted and each is not None}
    return program.call(owner, (), {**taken, **{key: each for key, each in keywords.items() if key != "args"}}, None)


METHODS: Mapping[str, Any] = {"add_argparse_args": _add_options, "from_argparse_args": _from_options}

__all__ = ["METHODS"]
