"""Loops that JAX writes as functions: `jax.lax.scan`, `fori_loop`, `while_loop` (its documentation, "Control flow operators")."""

from collections.abc import Mapping
from typing import Any

from ..trace import Loop
from ..values import UNKNOWN, Range, Value

Program = Any
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]


def _given(names: tuple[str, ...], arguments: Arguments, keywords: Keywords) -> list[Value]:
    """Return the arguments of these names, given by place or by name; null where they are absent."""
    placed = dict(zip(names, arguments, strict=False))
    return [keywords.get(name, placed.get(name)) for name in names]


def _inside(program: Program, iterated: Value, body: Value, arguments: Arguments) -> Value:
    """Call a loop's body once, inside the loop."""
    file = program.calls[-1].scope.module.file if program.calls else program.trace.entry
    loop = Loop("_", iterated, "", file, 0, tuple(program.loops))
    program.trace.loops.append(loop)
    program.loops.append(loop)
    try:
        return program.call(body, arguments, {}, None)
    finally:
        program.loops.pop()


def _scan(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`scan(f, init, xs, length)`: the carried value and what each step gave."""
    body, start, items, length = _given(("f", "init", "xs", "length"), arguments, keywords)
    span = items if length is None else Range(0, length, 1, literal_start=True)
    found = _inside(program, span, body, (start, UNKNOWN))
    return found if isinstance(found, tuple) else (start, UNKNOWN)


def _counted(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`fori_loop(lower, upper, body_fun, init_val)`: the carried value."""
    lower, upper, body, start = _given(("lower", "upper", "body_fun", "init_val"), arguments, keywords)
    literal = isinstance(lower, int)
    return _inside(program, Range(lower, upper, 1, literal_start=literal), body, (UNKNOWN, start))


def _while(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """`while_loop(cond_fun, body_fun, init_val)`: the carried value."""
    _, body, start = _given(("cond_fun", "body_fun", "init_val"), arguments, keywords)
    return _inside(program, None, body, (start,))


EXTERNALS: Mapping[str, Any] = {
    "jax.lax.scan": _scan,
    "jax.lax.fori_loop": _counted,
    "jax.lax.while_loop": _while,
}
