"""ConfigArgParse: options that a file sets, weaker than the command line (its README, "Features")."""

import re
from typing import Any

from ..values import Value
from .parsing import parse_configuration, scalar
from .paths import read_text

Program = Any
_LINE = re.compile(r"-{0,2}([\w.-]+)(?:\s*[=:]\s*|\s+)(.*)")
_MOST_LINES = 2_000


def read_options(program: Program, path: Value) -> dict[str, Value]:
    """Return the options that a configuration file sets, `-` as `_`; none where it cannot be read."""
    text = read_text(program, path)
    if text is None or not isinstance(path, str):
        return {}
    if path.endswith((".yaml", ".yml", ".json", ".toml")):
        found = parse_configuration(path, text)
        given = found if isinstance(found, dict) else {}
    else:
        given = dict(each for line in text.splitlines()[:_MOST_LINES] if (each := _option(line)) is not None)
    program.trace.settings.append((f"file {path}", given))
    return {str(key).replace("-", "_"): value for key, value in given.items()}


def _option(line: str) -> tuple[str, Value] | None:
    """Return the name and value of `name = value`, `name: value`, `--name value` or a lone `name`, which is true."""
    line = line.partition("#")[0].strip()
    if not line or line.startswith((";", "[")):
        return None
    match = _LINE.fullmatch(line)
    return (line.lstrip("-"), True) if match is None else (match[1], scalar(match[2]))


__all__ = ["read_options"]
