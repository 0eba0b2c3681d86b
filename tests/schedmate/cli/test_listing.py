"""Rows for a person are never cut, whatever the width; a program gets them as they are."""

import csv
import io
import json
import os
import re
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from schedmate.cli import COMMANDS
from schedmate.cli.listing import blocks, print_rows, table
from schedmate.cli.safe_console import SafeConsole
from sinks.clickhouse.queries import queries
from tests.schedmate.forked import run_forked

from .on_terminal import on_terminal

COLUMNS = ("job", "state", "what happened")
ROWS = [
    [
        "pretrain-llama-70b-seed17_4711234",
        "running",
        "infrastructure gpu; restart shadowed: restarts are in shadow mode",
    ],
    ["4711235", "ended", ""],
]


def shown(columns: tuple[str, ...], rows: list[list[str]], width: int) -> str:
    out = io.StringIO()
    console = SafeConsole(file=out, width=width, color_system=None)
    console.print(table(columns, rows, width) or blocks(columns, rows))
    return out.getvalue()


def test_a_table_folds_sentences_between_words_and_keeps_ids_whole() -> None:
    text = shown(COLUMNS, ROWS, 80)
    assert text.splitlines()[0].split() == ["job", "state", "what", "happened"]
    assert "pretrain-llama-70b-seed17_4711234  running  infrastructure gpu; restart" in text
    assert max(map(cell_len, text.splitlines())) <= 80


def test_what_does_not_fit_stands_one_value_a_line() -> None:
    text = shown(COLUMNS, ROWS, 50)
    assert "job            pretrain-llama-70b-seed17_4711234" in text
    assert text.count("what happened") == 1, "what holds nothing is left out"


def test_a_column_without_a_value_is_left_out() -> None:
    assert "empty" not in shown(("job", "empty"), [["1", ""], ["2", ""]], 80)


words = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=25)
cells = st.lists(words, max_size=8).map(" ".join)


@given(st.integers(30, 200), st.lists(st.tuples(cells, cells, cells, cells).map(list), min_size=1, max_size=5))
def test_every_word_is_there_and_whole(width: int, rows: list[list[str]]) -> None:
    text = shown(("one", "two", "three", "four"), rows, width)
    assert max(map(cell_len, text.splitlines()), default=0) <= width
    found = set(text.split())
    longest = width - len("three") - 2
    assert {word for row in rows for cell in row for word in cell.split() if len(word) <= longest} <= found


def test_programs_get_times_and_texts_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    moment = datetime.fromisoformat("2026-11-22T19:59:06+00:00")
    rows = [("a, \x1b[2J", moment, 0.1, None)]
    print_rows(("job", "time", "number", "none"), rows, as_csv=True)
    ((job, time, number, none),) = list(csv.reader(io.StringIO(capsys.readouterr().out)))[1:]
    assert (job, time, number, none) == (rows[0][0], moment.isoformat(), "0.1", "")
    print_rows(("job", "time", "number", "none"), rows, as_json=True)
    assert json.loads(capsys.readouterr().out) == {
        "job": rows[0][0], "time": "2026-11-22T19:59:06Z", "number": 0.1, "none": None,
    }  # fmt: skip


def test_csv_holds_no_formula(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(("=a", "b"), [("=1+1", -1.5), ("-x", "-2")], as_csv=True)
    assert capsys.readouterr().out == "'=a,b\n'=1+1,-1.5\n'-x,-2\n"


@pytest.mark.parametrize("arguments", [["signatures", "list"], ["config"], ["query"], ["acls", "list"]], ids=" ".join)
def test_nothing_is_cut_on_a_terminal(arguments: list[str]) -> None:
    text = on_terminal(*arguments)
    assert "…" not in text
    assert max(map(cell_len, text.splitlines())) <= 80


@pytest.mark.parametrize("arguments", [["signatures", "list"], ["config"], ["query"], ["acls", "list"]], ids=" ".join)
def test_what_is_listed_comes_as_json_and_csv_too(arguments: list[str]) -> None:
    rows = [json.loads(line) for line in on_terminal(*arguments, "--json").splitlines()]
    table = list(csv.reader(io.StringIO(on_terminal(*arguments, "--csv"))))
    assert len(table) == len(rows) + 1 > 5


@pytest.mark.parametrize("arguments", [["signatures", "list"], ["config"], ["query"], ["acls", "list"]], ids=" ".join)
def test_in_a_pipe_rows_are_whole_unless_columns_says_how_wide(arguments: list[str]) -> None:
    whole, folded = (
        run_forked(*arguments, env={"SCHEDMATE_CONFIG": "/dev/null", "HOME": "/tmp"} | columns).stdout.decode()
        for columns in ({}, {"COLUMNS": "80"})
    )
    assert len(whole.splitlines()) == on_terminal(*arguments, "--json").count("\n") + 1, "a line a row, and the header"
    assert max(map(cell_len, folded.splitlines())) <= 80


def test_no_color_is_honoured(tmp_path: Path) -> None:
    (log := tmp_path / "train.log").write_text("step 1 loss 0.5\n")
    colour = "\x1b\\[[0-9;]*3[0-9]m"
    assert re.search(colour, on_terminal("--help", raw=True))
    assert not re.search(colour, on_terminal("--help", raw=True, NO_COLOR="1"))
    assert not re.search(colour, on_terminal("analyze", str(log), raw=True, NO_COLOR="1"))
    logged = ("--set", "kafka.brokers=127.0.0.1:1", "watch", str(tmp_path / "none"))
    assert not re.search(colour, on_terminal(*logged, raw=True, NO_COLOR="1"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(("words", "completed"), [("an", "analyze"), ("query ver", "verdicts")])
def test_commands_and_questions_are_completed(shell: str, words: str, completed: str) -> None:
    line = f"schedmate {words}"
    asked = {"_SCHEDMATE_COMPLETE": f"complete_{shell}"}
    if shell == "bash":
        asked |= {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    else:
        asked |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    said = run_forked(env={**os.environ, **asked}).stdout.decode().replace('"', "\t").split("\t")
    assert [word for word in map(str.strip, said) if word in COMMANDS or word in queries()] == [completed]


def test_a_mistyped_command_says_what_was_meant() -> None:
    assert on_terminal("analyse", "x.log") == "schedmate: no command 'analyse'; did you mean analyze?\n"
    assert "Did you mean 'list'?" in on_terminal("dead-letters", "lst")
