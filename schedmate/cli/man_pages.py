"""Manual pages in roff, one for each command, made from what `--help` shows.

Only requests of the macro package `man` are used (groff_man(7)), and ASCII alone, so that every reader of manual pages shows them.
"""

import re
from collections.abc import Iterator
from typing import Any

import typer

import schedmate

from .. import SETTINGS_FILE
from . import COMMANDS, app
from .parameters import usage_of

_CODE = re.compile(r"`([^`]+)`")
_COMMA_IN_WORD = re.compile(r",(?=[^ ])")
_SPECIAL = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}
"""What a formatter would set as something else than the character that is typed."""

_ENVIRONMENT = f""".SH ENVIRONMENT
.TP
.B SCHEDMATE_CONFIG
The settings file, instead of
.IR {SETTINGS_FILE} .
.TP
.BI SCHEDMATE_ SECTION __ NAME
One setting; it wins over the file.
.B schedmate config
shows all.
.TP
.B NO_COLOR
No colours, where it is set.
"""
_EXIT_STATUS = """.SH "EXIT STATUS"
2 for errors that a person can fix; one sentence on standard error states what to do.
"""


def man_pages() -> dict[str, str]:
    """Return every manual page by its file name, `schedmate-models-serve.1` for `schedmate models serve`."""
    root = typer.main.get_command(app)
    return {f"{'-'.join(path)}.1": _page(path, command, context) for path, command, context in _commands(root)}


def _commands(command: Any, context: Any = None, name: str = "schedmate") -> Iterator[tuple[list[str], Any, Any]]:
    """Yield `command` and all below it, each with the words that call it and its context."""
    here = command.context_class(command, info_name=name, parent=context)
    yield here.command_path.split(), command, here
    for below in _below(command, here):
        yield from _commands(command.get_command(here, below), here, below)


def _below(command: Any, context: Any) -> list[str]:
    """Return the names of the commands of a group that help shows; none where `command` is no group."""
    names = command.list_commands(context) if hasattr(command, "list_commands") else []
    return [name for name in names if not command.get_command(context, name).hidden]


def _page(path: list[str], command: Any, context: Any) -> str:
    name, parameters = "-".join(path), command.get_params(context)
    arguments = [each for each in parameters if each.param_type_name == "argument"]
    options = [each for each in parameters if each.param_type_name == "option" and not each.hidden]
    text = command.help or ""
    parts = [
        f'.TH {_escape(name.upper())} 1 "" "SchedMate {schedmate.__version__}" "SchedMate"\n.nh\n.ad l\n',
        f".SH NAME\n{_escape(name)} \\- {_plain(_summary(path, text))}\n",
        f".SH SYNOPSIS\n.B {_escape(' '.join(path))}\n[\\fIOPTIONS\\fR]",
        "".join(f" {_escape(usage_of(each))}" for each in arguments),
        " \\fICOMMAND\\fR ...\n" if (below := _below(command, context)) else "\n",
        f".SH DESCRIPTION\n{_prose(text)}",
    ]
    if arguments:
        parts.append(".SH ARGUMENTS\n" + "".join(_entry(usage_of(each), each, context) for each in arguments))
    parts.append(".SH OPTIONS\n" + "".join(_entry(_option(each, context), each, context) for each in options))
    if below:
        parts.append(".SH COMMANDS\n")
        for each in below:
            page = f".BR {_escape(f'{name}-{each}')} (1)"
            summary = _summary([*path, each], command.get_command(context, each).help or "")
            parts.append(f".TP\n{page}\n{_prose(summary)}")
    if len(path) == 1:
        parts.append(_ENVIRONMENT)
    else:
        parts.append(f'.SH "SEE ALSO"\n.BR {_escape("-".join(path[:-1]))} (1)\n')
    return "".join([*parts, _EXIT_STATUS] if len(path) == 1 else parts)


def _summary(path: list[str], text: str) -> str:
    """Return what a command does in one line without a full stop."""
    first = COMMANDS[path[1]] if len(path) == 2 else " ".join(text.split("\n\n", maxsplit=1)[0].split())
    return first.split(". ", maxsplit=1)[0].rstrip(".")


def _option(option: Any, context: Any) -> str:
    shown, _ = option.get_help_record(context)
    return str(shown)


def _entry(name: str, parameter: Any, context: Any) -> str:
    _, text = parameter.get_help_record(context) or ("", "")
    return f".TP\n.B {_escape(name)}\n{_prose(text)}"


def _prose(text: str) -> str:
    """Return paragraphs of Markdown as roff: code in bold, everything else unchanged."""
    paragraphs = [" ".join(each.split()) for each in text.split("\n\n")]
    return ".PP\n".join(f"{_CODE.sub(_code, _guarded(each))}\n" for each in paragraphs if each)


def _code(found: re.Match[str]) -> str:
    return f"\\fB{found[1]}\\fR"


def _guarded(line: str) -> str:
    """Return `line` escaped, its backticks left for what makes code of them, and never a request of the formatter."""
    return "`".join(map(_escape, line.split("`"))) if line[:1] not in (".", "'") else f"\\&{_escape(line)}"


def _plain(line: str) -> str:
    return _escape(line.replace("`", ""))


def _escape(text: str) -> str:
    """Return `text` as a formatter sets it unchanged; a long list without blanks may go on in the next line."""
    safe = "".join(_SPECIAL.get(each) or (each if each.isascii() else f"\\[u{ord(each):04X}]") for each in text)
    return _COMMA_IN_WORD.sub(r",\\:", safe)
