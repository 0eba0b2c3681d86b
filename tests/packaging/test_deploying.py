"""docs/deploying.md says what is so."""

import re
import tomllib
from pathlib import Path

import pytest

from schedmate.cli import COMMANDS
from schedmate.settings.settings import Settings, load

from .conftest import ROOT

TEXT = (ROOT / "docs" / "deploying.md").read_text()
COMPOSE = (ROOT / "docker-compose.yml").read_text()
ROWS = dict(re.findall(r"^\| `(SCHEDMATE_\w+)` \| (.+?) \|", TEXT, re.MULTILINE))
VARIABLES = dict(re.findall(r"\$\{(SCHEDMATE_\w+):-([^}]*)\}", COMPOSE))


def test_every_variable_of_the_stack_is_in_the_table() -> None:
    assert set(ROWS) == set(VARIABLES)


@pytest.mark.parametrize("variable", sorted(set(ROWS) - {"SCHEDMATE_KAFKA_CLUSTER"}))
def test_the_table_gives_the_default_in_force(variable: str) -> None:
    default = VARIABLES[variable]
    assert ROWS[variable] == (f"`{default}`" if default else "none")


def test_settings_that_are_named_exist() -> None:
    named = re.findall(r"SCHEDMATE_([A-Z]+)__([A-Z_]+)", TEXT)
    assert named
    for section, name in named:
        model = Settings.model_fields[section.lower()].annotation
        assert model is not None
        assert name.lower() in model.model_fields, f"SCHEDMATE_{section}__{name}"


def test_settings_files_that_are_shown_are_accepted(tmp_path: Path) -> None:
    blocks = re.findall(r"\n\n((?:[ ]{4,}.*\n|\n)+)", TEXT)
    shown = [re.sub("^ +", "", block, flags=re.MULTILINE) for block in blocks if block.lstrip().startswith("[")]
    assert len(shown) == 3
    for number, block in enumerate(shown):
        file = tmp_path / f"{number}.toml"
        file.write_text(block)
        assert tomllib.loads(block)
        load(file)


def test_commands_units_and_files_that_are_named_exist() -> None:
    for command in re.findall(r"(?:^ +|[`|] ?|sink |bin/)schedmate ([a-z-]+)", TEXT, re.MULTILINE):
        assert command in COMMANDS, command
    for unit in re.findall(r"`(schedmate-[a-z-]+)`", TEXT):
        assert (ROOT / "packaging" / "systemd" / f"{unit}.service").is_file(), unit
    for path in re.findall(r"packaging/[\w./-]*\w", TEXT):
        assert (ROOT / path).exists() or path.startswith("packaging/secrets"), path
