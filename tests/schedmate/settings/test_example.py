"""The example of a settings file says what holds without it."""

import re
import tomllib
from pathlib import Path

import pytest

from schedmate.settings.example import example
from schedmate.settings.settings import Settings, load


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"SCHEDMATE_{name.upper()}", raising=False)


def test_as_it_stands_it_changes_nothing(tmp_path: Path) -> None:
    (file := tmp_path / "schedmate.toml").write_text(example())
    assert load(file).settings == Settings()


def test_uncommented_it_says_the_defaults(tmp_path: Path) -> None:
    text = re.sub(r"^# (\w+ = )", r"\1", example(), flags=re.MULTILINE)
    (file := tmp_path / "schedmate.toml").write_text(re.sub(r'^\w+ = "FILE"$', "", text, flags=re.MULTILINE))
    assert load(file).settings == Settings()
    named = {(section, name) for section, values in tomllib.loads(text).items() for name in values}
    known = {(section, name) for section, of in Settings.model_fields.items() for name in type(of.default).model_fields}
    assert named == {each for each in known if each[1] != "password"}


def test_a_choice_names_what_there_is() -> None:
    assert "One of: PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL." in example()
