"""A settings file to begin with: every setting with its default, all of it commented out."""

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from .settings import SECRETS, Settings

_HEAD = """\
# Settings of SchedMate. Everything is commented out and shows its default: change a line, and take its `# ` away.
# Put it where SCHEDMATE_CONFIG or --config names it, or in /etc/schedmate/schedmate.toml.
# The environment (SCHEDMATE_KAFKA__BROKERS) and `--set kafka.brokers=…` go before it.
# Passwords are not allowed here: they come from SCHEDMATE_<SECTION>__PASSWORD, or from the file that `password_file` names.
"""


def example() -> str:
    """Return the file. Its commented settings show the defaults."""
    return "\n".join([_HEAD.rstrip(), *_lines()]) + "\n"


def _lines() -> Iterator[str]:
    for section, of in Settings.model_fields.items():
        model = type(of.default)
        yield ""
        yield from _comment(" ".join((model.__doc__ or "").split()))
        yield f"[{section}]"
        for name, field in model.model_fields.items():
            if name in SECRETS:
                continue
            choices = [each for each in get_args(field.annotation) if get_origin(field.annotation) is Literal]
            one_of = f" One of: {', '.join(map(str, choices))}." if len(choices) > 1 else ""
            yield ""
            unset = " Not set by default." if field.default is None else ""
            yield from _comment(f"{field.description}{one_of}{unset}")
            yield f"# {name} = {_toml(field.default)}"


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, 98)]


def _toml(value: Any) -> str:
    """Return a default as TOML; of a file that is not set, a word in its place."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if value is None or isinstance(value, str | Path):
        return json.dumps("FILE" if value is None else str(value), ensure_ascii=False)
    return json.dumps(value)
