"""No password is ever shown, wherever somebody puts it."""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import schedmate.cli
from schedmate.services import logging
from schedmate.settings.passwords import without_password
from schedmate.settings.settings import ServiceSettings, Settings, load

SECRET = "hunter2%3A/geheim"
PLACES = [
    (section, name) for section in Settings.model_fields for name in type(getattr(Settings(), section)).model_fields
]
WITH_PASSWORD = sorted({section for section, name in PLACES if name == "password"})
FORMS = [
    "redis://:{}@h:1/0",
    "rediss://u:{}@h:1/0",
    "http://u:{}@h/db",
    "https://u:a@{}@h/db",
    "http://h/db?user=u&password={}",
    "redis://h:1/0?db=1&ssl_password={}",
    "u:{}@h:9092",
    "http://a,http://u:{}@b",
]
ADDRESSES = ("url", "brokers", "servers")
CASES = [
    (*place, form)
    for number, place in enumerate(PLACES)
    for form in (FORMS if place[1] in ADDRESSES else [FORMS[number % len(FORMS)]])
]
"""Every form where an address is meant, one in turn where it is not."""


def output_of(arguments: list[str]) -> str:
    """Return all that a command line prints."""
    out, before = io.StringIO(), sys.argv
    sys.argv = ["schedmate", *arguments]
    try:
        with redirect_stdout(out), redirect_stderr(out), pytest.raises(SystemExit):
            schedmate.cli.main()
    finally:
        sys.argv = before
    return out.getvalue()


@pytest.mark.parametrize(("section", "name", "form"), CASES, ids=lambda value: value)
def test_an_address_with_a_password_is_refused_and_not_repeated(
    section: str, name: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = form.format(SECRET)
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    file = tmp_path / "schedmate.toml"
    file.write_text(f"[{section}]\n{name} = {json.dumps(value)}\n")
    answers = [
        output_of(["--set", f"{section}.{name}={value}", "config"]),
        output_of(["--config", str(file), "config"]),
    ]
    monkeypatch.setenv(f"SCHEDMATE_{section}__{name}".upper(), value)
    answers.append(output_of(["config"]))
    for answer in answers:
        assert answer.strip()
        assert "hunter2" not in answer
        assert "geheim" not in answer
        assert "Traceback" not in answer
    if name == "url":
        assert all("password" in answer for answer in answers)


@pytest.mark.parametrize("section", WITH_PASSWORD)
def test_a_password_by_itself_is_not_shown(section: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")
    monkeypatch.setenv(f"SCHEDMATE_{section.upper()}__PASSWORD", SECRET)
    shown = output_of(["config"])
    assert "(set)" in shown
    assert SECRET not in shown
    assert SECRET not in repr(load())


@pytest.mark.parametrize(
    "text", [f'password = "{SECRET}"\n', f'[kafka]\npasswort = "{SECRET}"\n', f'[kafka]\npassword = "{SECRET}"\n', f'password = {SECRET}\n']
)  # fmt: skip
def test_a_file_that_is_wrong_is_not_quoted(text: str, tmp_path: Path) -> None:
    file = tmp_path / "schedmate.toml"
    file.write_text(text)
    assert "geheim" not in output_of(["--config", str(file), "config"])
    for flag in (f"password={SECRET}", f"kafka.passwort={SECRET}", f"kafka.password={SECRET}"):
        assert "geheim" not in output_of(["--set", flag, "config"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    password=st.text(st.characters(max_codepoint=126), min_size=6), user=st.from_regex(r"[a-z]{0,5}", fullmatch=True)
)
def test_any_password_is_masked(password: str, user: str) -> None:
    secret = f"S3{password}cret"
    if any(letter.isspace() for letter in secret):
        return
    masked = without_password(f"opening http://{user}:{secret}@host:1/x failed")
    assert secret not in masked
    assert "host:1/x failed" in masked


@pytest.mark.parametrize(
    "address", ["http://u@h:8123/db", "redis://h:6379/0", "h1:9092,h2:9092", "chdb:///a/b", "[::1]:9092", "unix:///run/r"]
)  # fmt: skip
def test_an_address_without_a_password_stays(address: str) -> None:
    assert without_password(address) == address


@pytest.mark.parametrize("kind", ["text", "json"])
def test_a_logged_traceback_shows_no_variables_and_does_not_act(kind: Any, capsys: pytest.CaptureFixture[str]) -> None:
    before = structlog.get_config()
    try:
        logging.configure(ServiceSettings(log_format=kind))
        try:
            _fails(SECRET)
        except ValueError:
            structlog.get_logger("x").exception("failed\x1b[2J", detail="\x1b]0;x\x07")
    finally:
        structlog.configure(**before)
    written = capsys.readouterr().err
    assert "ValueError" in written
    assert SECRET not in written
    for active in ("\x1b[2J", "\x1b]0", "\x07", "\x1b[3J"):
        assert active not in written


def _fails(password: str) -> None:
    config = {"sasl_plain_password": password}
    raise ValueError(f"no \x1b[3J {len(config)}")
