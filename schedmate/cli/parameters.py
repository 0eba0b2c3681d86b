"""Names of parameters in help texts: values in capitals, none for flags."""

import re
from typing import Any

_TYPES = {
    "bool": "",
    "str": "TEXT",
    "int": "INTEGER",
    "float": "NUMBER",
    "path": "PATH",
    "Path": "PATH",
    "file": "FILE",
    "directory": "DIR",
}


def name_values(command: Any, context: Any) -> None:
    """Give every parameter of `command`, and of the commands below it, the name that help and usage show for its value."""
    help_option = command.get_help_option(context)
    for parameter in [*command.params, *([help_option] if help_option else [])]:
        if parameter.param_type_name == "argument":
            _name_argument(parameter)
        elif parameter.metavar is None:
            parameter.metavar = _value_of(parameter, context)
    for below in getattr(command, "commands", {}).values():
        name_values(below, context)


def usage_of(argument: Any) -> str:
    """Return an argument as the usage line shows it: in brackets where it may be left out, with dots where it may be repeated."""
    name = argument.metavar or argument.name.upper()
    if name.startswith("["):
        return str(name)
    several = "..." if argument.nargs == -1 and "..." not in name else ""
    return f"{name}{several}" if argument.required else f"[{name}{several}]"


def _name_argument(argument: Any) -> None:
    usage = usage_of(argument)
    argument.metavar = usage.strip("[]") if usage.endswith("]") else usage
    argument.get_usage_pieces = lambda _: [usage]
    argument.display_type_rich = lambda ctx: None  # noqa: ARG005 - Typer passes it by name


def _value_of(option: Any, context: Any) -> str | None:
    """Return the name of an option's value: its type in capitals, or its choices; empty for a flag."""
    if getattr(option, "is_flag", False):
        return ""
    shown = getattr(option, "display_type", lambda _: None)(context)
    if shown is None:  # an older Typer, which names types in capitals itself
        return None
    label = re.sub(r"^<(?:list\[)?(.+?)\]?>$", r"\1", shown)
    return _TYPES.get(label.removesuffix(" range"), label)
