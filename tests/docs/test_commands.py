"""Every command line that is shown can be typed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from schedmate.cli import app
from schedmate.settings.settings import load
from sinks.clickhouse.queries import queries

from .pages import PAGES, Line, command_lines

LINES = sorted({line for page in PAGES for line in command_lines(page)}, key=str)


def test_there_are_command_lines() -> None:
    assert len(LINES) > 60
    assert {line.place for line in LINES} >= {
        "README.md",
        "docs/index.md",
        "docs/operating.md",
        "docs/shipping.md",
        "docs/slurm.md",
    }


@pytest.mark.parametrize("place", sorted({line.place for line in LINES}))
def test_every_command_line_is_understood(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COLUMNS", "SCHEDMATE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    for line in LINES:
        if line.place == place:
            _understood(line, monkeypatch)


def _understood(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    given = _parsed(line.words, monkeypatch)
    _settings_exist(given.pop("schedmate"))
    if "query" in given:
        _question_exists(given["query"])


def _parsed(words: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """Return what each command of a line is given, by its name. Nothing of it runs."""
    given: dict[str, dict[str, Any]] = {}

    def parses_only(name: str, command: Any) -> Any:
        command.callback = lambda **options: given.update({name: options})
        return command

    def resolve(group: TyperGroup, context: Any, arguments: list[str]) -> Any:
        name, command, rest = resolve_command(group, context, arguments)
        return name, parses_only(str(name), command), rest

    resolve_command = TyperGroup.resolve_command
    with monkeypatch.context() as parsing:
        parsing.setattr(TyperGroup, "resolve_command", resolve)
        parses_only("schedmate", typer.main.get_command(app)).main(list(words), "schedmate", standalone_mode=False)
    return given


def _settings_exist(given: dict[str, Any]) -> None:
    flags = dict(each.partition("=")[::2] for each in given.get("change") or () if each != "SECTION.NAME=VALUE")
    load(Path("/dev/null"), flags)


def _question_exists(given: dict[str, Any]) -> None:
    name = given["name"]
    if name is None or name.isupper() or given["sql"]:
        return
    assert name in queries(), f"{name} is no question"
    takes = {parameter.name for parameter in queries()[name].parameters}
    asked = {each.partition("=")[0] for each in given["given"] or ()}
    assert asked <= takes, f"{name} takes {sorted(takes)}"


def test_a_wrong_line_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        _understood(Line("here", ("pipe", "--brokers", "k1:9092")), pytest.MonkeyPatch())
    assert "--brokers" in capsys.readouterr().err
    with pytest.raises(Exception, match="kafka"):
        _understood(Line("here", ("--set", "kafka.broker=k1:9092", "worker")), pytest.MonkeyPatch())
    with pytest.raises(AssertionError, match="no question"):
        _understood(Line("here", ("query", "everything")), pytest.MonkeyPatch())
