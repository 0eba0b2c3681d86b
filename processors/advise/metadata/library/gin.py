"""gin-config: bindings `function.parameter = value` become defaults of the functions and classes of that name.

Source: gin-config's user guide (`include`, macros, scoped bindings).
"""

import posixpath
from collections.abc import Mapping
from typing import Any

from ..values import Class, Config, Function, Term, Value
from .paths import path_text, read_text
from .standard_library import literal

Program = Any
Arguments = tuple[Value, ...]
Keywords = Mapping[str, Value]

DEEPEST = 8
MOST_BINDINGS = 5_000
_CALLED = "gin call"
STORED = "\0gin"
"""Where the bindings of a program are kept."""


def bound_parameters(program: Program, function: Function) -> Mapping[str, Value]:
    """Return what gin binds for a function, or for the class whose `__init__` it is."""
    bindings = program.stored.get(STORED)
    if not isinstance(bindings, Config):
        return {}
    name = function.owner.name if function.name == "__init__" and function.owner else function.name
    found = bindings.get(name)
    return {key: _evaluated(program, each) for key, each in found.items()} if isinstance(found, dict) else {}


def _evaluated(program: Program, value: Value) -> Value:
    """Return what `@name()` gives, which gin calls anew wherever it is used."""
    called = isinstance(value, Term) and value.kind == "call" and value.name == _CALLED
    return program.call(value.parts[0], (), {}, None) if called else value


def _parse(program: Program, text: str, directory: str, depth: int) -> None:
    bindings = program.stored.setdefault(STORED, Config())
    macros: dict[str, Value] = {}
    for line in _joined(text):
        if line.startswith("include ") and depth < DEEPEST:
            named = line.removeprefix("include ").strip().strip("'\"")
            path = next((each for each in (named, posixpath.join(directory, named)) if read_text(program, each)), named)
            inner = read_text(program, path)
            if inner is not None:
                _parse(program, inner, directory, depth + 1)
            continue
        key, equals, value = line.partition("=")
        if not equals or len(bindings) > MOST_BINDINGS:
            continue
        owner, _, parameter = key.strip().rpartition(".")
        found = _value(program, value.strip(), macros)
        if not owner:
            macros[parameter] = found
        else:
            target = owner.rpartition("/")[2].rpartition(".")[2]
            bindings.setdefault(target, Config())[parameter] = found
    program.trace.settings.append(("merged", bindings))


def _value(program: Program, text: str, macros: Mapping[str, Value]) -> Value:
    if text.startswith("%"):
        return macros.get(text[1:], Term("unknown"))
    if text.startswith("@"):
        name = text[1:].removesuffix("()").rpartition("/")[2].rpartition(".")[2]
        known = (each.names.get(name) for each in program.modules.loaded)
        found = next((each for each in known if isinstance(each, (Class, Function))), Term("external", name))
        return Term("call", _CALLED, (found,)) if text.endswith("()") else found
    return literal(text)


def _joined(text: str) -> list[str]:
    lines: list[str] = []
    held = ""
    for raw in text.splitlines():
        held += raw.partition("#")[0].strip()
        opened = sum(held.count(each) for each in "([{") - sum(held.count(each) for each in ")]}")
        if held.endswith("\\"):
            held = held[:-1]
        elif opened <= 0 or len(held) > 10_000:
            lines.append(held)
            held = ""
    return [each for each in [*lines, held] if each]


def _parse_files(program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    given = [*arguments, *keywords.values()]
    files = [path_text(each) for part in given[:2] for each in (part if isinstance(part, (list, tuple)) else [part])]
    for each in files:
        if isinstance(each, str) and "=" not in each:
            text = read_text(program, each)
            if text is not None:
                _parse(program, text, posixpath.dirname(each), 0)
    _parse(program, "\n".join(each for each in files if isinstance(each, str) and "=" in each), "", 0)
    return None


EXTERNALS: Mapping[str, Any] = {
    f"{module}.{name}": _parse_files
    for module in ("gin", "gin.config")
    for name in ("parse_config_file", "parse_config_files_and_bindings", "parse_config")
}
