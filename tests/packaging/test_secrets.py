"""packaging/make-secrets.sh and the other scripts."""

import hashlib
import re
import shutil
import stat
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from .conftest import ROOT

SCRIPTS = [
    ROOT / "packaging" / "make-secrets.sh",
    ROOT / "packaging" / "grant-rights.sh",
    ROOT / "tests" / "servers" / "install.sh",
]
PASSWORDS = (
    "kafka_password",
    "clickhouse_password",
    "clickhouse_reader_password",
    "redis_password",
    "grafana_password",
)


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_shellcheck_has_nothing_to_say(script: Path) -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not here: apt-get install shellcheck")
    checked = subprocess.run(["shellcheck", script], capture_output=True, text=True, check=False)
    assert checked.stdout == ""
    assert checked.returncode == 0


@pytest.mark.parametrize("pipe", ["", "User:jobs User:CN=n1"])
def test_jobs_get_rights_only_where_their_users_are_named(tmp_path: Path, pipe: str) -> None:
    command = tmp_path / "schedmate"
    command.write_text('#!/bin/sh\necho "$@"\n')
    command.chmod(0o755)
    environment = {"SCHEDMATE": str(command), "PATH": "/usr/bin:/bin", **({"PIPE": pipe} if pipe else {})}
    granted = subprocess.run([SCRIPTS[1]], env=environment, capture_output=True, text=True, check=True).stdout
    assert re.findall("acls grant pipe (.+)", granted) == pipe.split()
    assert "acls grant collector User:schedmate-collector" in granted


def test_passwords_are_long_and_all_different(secrets: Path) -> None:
    made = [(secrets / name).read_text() for name in PASSWORDS]
    assert len(set(made)) == len(made)
    assert all(re.fullmatch("[A-Za-z0-9]{32}", password) for password in made)


def test_only_the_owner_gets_at_them(secrets: Path) -> None:
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in secrets.iterdir()} == {0o444}


def test_each_server_gets_its_password_in_its_own_form(secrets: Path) -> None:
    users = ET.parse(secrets / "clickhouse_users").getroot().find("users")
    assert users is not None
    default = users.find("default")
    assert default is not None
    assert default.get("remove") == "remove"
    assert users.findtext("schedmate/password_sha256_hex") == digest(secrets / "clickhouse_password")
    assert users.findtext("schedmate-reader/password_sha256_hex") == digest(secrets / "clickhouse_reader_password")
    grants = [each.text for each in users.findall("schedmate-reader/grants/query")]
    assert grants == ["GRANT SELECT ON schedmate.*", "GRANT SELECT ON system.parts"]
    assert f"#{digest(secrets / 'redis_password')} " in (secrets / "redis_acl").read_text()
    assert f'user_schedmate="{(secrets / "kafka_password").read_text()}"' in (secrets / "kafka_jaas").read_text()


def test_made_again_they_are_the_same(secrets: Path) -> None:
    before = {file.name: file.read_bytes() for file in secrets.iterdir()}
    subprocess.run([SCRIPTS[0], secrets], check=True, capture_output=True)
    assert {file.name: file.read_bytes() for file in secrets.iterdir()} == before


def test_git_leaves_them_alone() -> None:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no git repository here")
    ignored = subprocess.run(
        ["git", "check-ignore", "--no-index", "packaging/secrets/redis_password"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    assert ignored.returncode == 0
