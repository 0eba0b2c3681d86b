"""Manual pages: one for each command, which formatters take without a complaint, and which say what `--help` says."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from schedmate.cli import COMMANDS, app
from schedmate.cli.man_pages import man_pages
from tests.servers import require

PAGES = man_pages()
DOCS = Path(__file__).resolve().parents[3] / "docs"


def shown(page: Path) -> str:
    require(shutil.which("man") is not None, "man", "Run apt-get install man-db.")
    done = subprocess.run(
        ["man", "--local-file", "--warnings", str(page)],
        env={
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "MANWIDTH": "100",
            "MANPAGER": "cat",
            "GROFF_NO_SGR": "1",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_every_command_has_a_page_and_nothing_else_has() -> None:
    assert {f"schedmate-{name}.1" for name in COMMANDS} | {"schedmate.1", "schedmate-models-serve.1"} <= set(PAGES)
    assert {page.name for page in (DOCS / "man").iterdir()} == set(PAGES)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_help_lists_every_option_of_the_page(name: str) -> None:
    words = next(line for line in PAGES[name].splitlines() if line.startswith(".B schedmate"))
    command = words.removeprefix(".B schedmate").replace("\\-", "-").split()
    helped = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "300", "TERM": "dumb"})
    assert helped.exit_code == 0
    entries = [line.split()[1] for line in PAGES[name].splitlines() if line.startswith(".B \\-\\-")]
    assert "\\-\\-help" in entries
    for option in entries:
        assert option.replace("\\-", "-").rstrip(",") in helped.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PAGES))
def test_man_shows_a_page_without_warnings(name: str, tmp_path: Path) -> None:
    page = tmp_path / name
    page.write_text(PAGES[name])
    text = shown(page)
    assert all(heading in text for heading in ("NAME\n", "SYNOPSIS\n", "DESCRIPTION\n", "OPTIONS\n"))


def test_characters_come_out_as_they_are_typed(tmp_path: Path) -> None:
    page = tmp_path / "schedmate-collect.1"
    page.write_text(PAGES[page.name])
    # What roff would take for its own: dashes, backslashes, quotes.
    assert r"schedmate collect --pattern '/(?P<job>\d+)/rank(?P<rank>\d+)" in " ".join(shown(page).split())


def test_what_man_complains_of_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "wrong.1"
    page.write_text('.TH WRONG 1 "" "" ""\n.SH NAME\n.unknown request\n')
    with pytest.raises(AssertionError):
        shown(page)
