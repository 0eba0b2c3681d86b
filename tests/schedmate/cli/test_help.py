"""Help shows commands as manuals do: no type behind a flag, and capitals for the values that a person types."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from schedmate.cli import COMMANDS, app


def paths(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words that call `command`, and each command below it."""
    yield path
    context = command.context_class(command)
    for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from paths(command.get_command(context, name), (*path, name))


PATHS = sorted(paths(typer.main.get_command(app)))


def help_of(*command: str) -> str:
    done = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "300", "TERM": "dumb"})
    assert done.exit_code == 0
    return done.stdout


@pytest.mark.parametrize("command", PATHS, ids=" ".join)
def test_help_names_values_in_capitals_and_gives_flags_no_type(command: tuple[str, ...]) -> None:
    text = help_of(*command)
    assert not re.search(r"<(bool|str|int|float|list|path|file|directory)\b", text)
    usage = next(line for line in text.splitlines() if "Usage:" in line)
    assert not re.search(r"[{}]|\[\[(?!--)|\.\.\.\]\.\.\.", usage)


def test_usage_puts_optional_arguments_alone_in_brackets() -> None:
    assert "analyze [OPTIONS] FILES..." in help_of("analyze")
    assert "status [OPTIONS] [JOB]" in help_of("status")
    assert "query [OPTIONS] [NAME] [PARAMETER=VALUE]..." in help_of("query")


def test_a_limit_of_a_number_and_a_choice_stay_in_the_help() -> None:
    assert re.search(r"--limit +INTEGER \[x>=1\]", help_of("status"))
    assert re.search(r"--format +<?table\|json\|csv\|html>?", help_of("analyze"))


def test_the_help_of_advise_shows_how_a_source_tree_is_read() -> None:
    text = help_of("advise")
    assert re.search(r"--metadata +Show what the job trains", text)
    assert re.search(r"--tree +PATH +Directory of the source tree", text)
    assert "advise --metadata --tree" in text


def test_every_command_is_in_the_help_of_the_program() -> None:
    text = help_of()
    assert all(re.search(rf"│ {re.escape(name)} ", text) for name in COMMANDS)
