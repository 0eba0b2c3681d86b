"""The options of a pipe: `--name VALUE` or `--name=VALUE`, then the command.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

# Not the one of `typing`, which takes a quarter of the time that the start of a pipe may cost a job.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


class UsageError(ValueError):
    """Arguments that cannot be understood; the message says what was expected."""


def parse(arguments: Sequence[str], names: Collection[str]) -> tuple[dict[str, str], list[str]]:
    """Return the options, which are among `names`, and the command. Raises `UsageError`."""
    # Not argparse: it takes a fifth of the time that the start may cost a job.
    options: dict[str, str] = {}
    rest = list(arguments)
    while rest and rest[0].startswith("--") and rest[0] != "--":
        name, equals, value = rest.pop(0)[2:].partition("=")
        if name not in names:
            raise UsageError(f"expected one of the options --{', --'.join(names)}, got --{name}: see --help")
        if not equals:
            if not rest:
                raise UsageError(f"expected a value behind --{name}, got nothing")
            value = rest.pop(0)
        options[name] = value
    return options, rest[1:] if rest[:1] == ["--"] else rest


def number(options: dict[str, str], name: str) -> int | None:
    """Return an option that is a whole number; None where it is not given. Raises `UsageError`."""
    value = options.get(name)
    if value is None:
        return None
    if not (value.isascii() and value.isdecimal() and len(value) <= 18):
        raise UsageError(f"expected a number behind --{name}, got {value[:80]!r}")
    return int(value)
