"""Files with secrets that others can read are named once, when a command starts."""

from pathlib import Path

import pytest

from schedmate.settings.secret_files import exposed_files
from schedmate.settings.settings import load
from tests.schedmate.forked import run_forked

SETTINGS = (
    "kafka.password_file", "kafka.ssl_keyfile", "clickhouse.password_file", "clickhouse.reader_password_file",
    "redis.password_file", "language_model.password_file", "web.password_file", "notify.password_file",
    "notify.webhook_token_file", "notify.slack_file", "bridge.signing_keys_file",
)  # fmt: skip


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "secret"
    file.write_text("hunter2")
    return file


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_file_that_others_can_read_is_named(setting: str, secret: Path) -> None:
    secret.chmod(0o644)
    (warning,) = exposed_files(load(flags={setting: str(secret)}).settings)
    assert warning.startswith(f"warning: {setting}: ")
    assert "0644" in warning
    assert f"chmod 600 {secret}" in warning


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o640, 0o440])
def test_a_file_of_its_owner_and_group_is_not(mode: int, secret: Path) -> None:
    secret.chmod(mode)
    assert not list(exposed_files(load(flags={"bridge.signing_keys_file": str(secret)}).settings))


def test_a_file_that_is_not_there_is_not(tmp_path: Path) -> None:
    assert not list(exposed_files(load(flags={"redis.password_file": str(tmp_path / "none")}).settings))


def test_a_command_warns_once_on_standard_error(secret: Path) -> None:
    secret.chmod(0o644)
    done = run_forked("--set", f"bridge.signing_keys_file={secret}", "config", "--json")
    assert done.returncode == 0
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("schedmate: warning: bridge.signing_keys_file: ")
    assert "hunter2" not in line
