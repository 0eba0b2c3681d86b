"""Records of any values: what a stranger may send that still is a record of its topic."""

import types
from enum import Enum
from random import Random
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

import msgspec

from schedmate_records import InvalidRecord, Record, check, decode, encode

TEXTS = (
    "", "x", "n1", "7", "stdout", "kernel", "a" * 300, "\x00", "\x1b[31mred", "é", "NaN", "Traceback (most recent call last):",
    '  File "a.py", line 3, in <module>', "ValueError: x", "[rank3]: RuntimeError: boom", "CUDA out of memory", "NCCL watchdog timeout",
    "NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus", "step 3/10 loss 2.0 0.5 s/it", "Saved checkpoint to /c/ck_100",
    " 10%|█         | 10/100 [00:10<01:30,  1.00it/s]\r", "Epoch 1/3", "step,loss,lr", "1,2,3",
    ':::MLLOG {"time_ms": 5, "key": "run_start"}',
    "2026-01-01T00:00:00Z stdout P half", '{"log":"a\\n","time":"2026-01-01T00:00:00Z"}', "loss: nan", "1e308 samples/s",
)  # fmt: skip
WHOLE = (0, 1, 2, 3, 7, 100, 2**31 - 1, 2**31, 2**53, 2**63 - 1, 2**64 - 1, 2**64, 10**30, -1, -(2**63) - 1, -(10**30))
REAL = (0.0, 0.5, 1.0, 1e9, 1e9 + 60, 4e9, 1e18, 1e300, 5e-324, -1.0, float("inf"), float("nan"))

R = TypeVar("R", bound=Record)


def made_up(kind: type[R], chance: Random, **given: object) -> R | None:
    """Return a record of `kind`, as it comes from the wire; None where the values make none that is accepted.

    Args:
        kind: Its class.
        chance: Chooses.
        given: Fields with a value; those of them that the class has not are left out.
    """
    try:
        record = decode(kind, encode(_struct(kind, chance, given)))
        check(record)
        return record
    except (InvalidRecord, UnicodeEncodeError, msgspec.ValidationError):
        return None


def _struct(kind: type[Any], chance: Random, given: dict[str, object]) -> Any:
    values = {}
    for field in msgspec.structs.fields(kind):
        if field.name in given:
            values[field.name] = given[field.name]
        elif field.name != "v" and (field.required or chance.random() < 0.5):
            values[field.name] = _value(field.type, chance)
    return kind(**values)


def _value(kind: Any, chance: Random) -> Any:  # noqa: PLR0911  # one kind of value a line
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _value(chance.choice(inner), chance)
    if origin is Annotated:
        return _value(inner[0], chance)
    if origin is list:
        return [_value(inner[0], chance) for _ in range(chance.choice((0, 1, 2, 8)))]
    if origin is dict:
        return {_value(inner[0], chance): _value(inner[1], chance) for _ in range(chance.choice((0, 1, 2)))}
    if origin is tuple:
        return tuple(_value(each, chance) for each in inner)
    if kind in (None, type(None)):
        return None
    if issubclass(kind, Enum):
        return chance.choice(list(kind))
    if issubclass(kind, msgspec.Struct):
        return _struct(kind, chance, {})
    return chance.choice({str: TEXTS, bool: (True, False), int: WHOLE, float: REAL, bytes: (b"", b"x", b"\xff")}[kind])
