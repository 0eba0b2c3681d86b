"""The options of a pipe: `--name VALUE` or `--name=VALUE`, then the command.

Part of `schedmate-pipe.pyz`: Python 3.8, standard library only.
"""

from __future__ import annotations

# Not the one of `typing`, which takes a quarter of the time that the start of a pipe may cost a job.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


class UsageError(ValueError):
    """Arguments that cannot be understood; the message states what was expected."""


def parse(arguments: Sequence[str], names: Collection[str], faults: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return the options, which are among `names`, and the command.

    An option that cannot be understood is left out where there is no doubt what the command is; `faults` gets a sentence for each.

    Raises:
        UsageError: It is not clear what to run.
    """
    # Not argparse: it takes a fifth of the time that the start may cost a job.
    options: dict[str, str] = {}
    rest = list(arguments)
    while rest and rest[0].startswith("--") and rest[0] != "--":
        name, equals, value = rest.pop(0)[2:].partition("=")
        fault = ""
        if name not in names:
            fault = f"expected one of the options --{', --'.join(names)}, got --{name}: see --help"
        elif not equals and rest[:1] in ([], ["--"]):
            fault = f"expected a value behind --{name}, got nothing"
        if fault:
            clear = "--" in rest[:-1] or (equals and rest)
            if name == "help" or not clear:
                raise UsageError(fault)
            faults.append(fault)
            if not equals and not rest[0].startswith("--"):
                rest.pop(0)
            continue
        options[name] = value if equals else rest.pop(0)
    return options, rest[1:] if rest[:1] == ["--"] else rest


def number(options: Mapping[str, str], name: str) -> int | None:
    """Return an option that is a whole number; None where it is not given. Raises `UsageError`."""
    value = options.get(name)
    if value is None:
        return None
    if not (value.isascii() and value.isdecimal() and len(value) <= 18):
        raise UsageError(f"expected a number behind --{name}, got {value[:80]!r}")
    return int(value)
