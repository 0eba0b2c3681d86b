"""The units, checked by systemd itself."""

import shutil
import subprocess
from pathlib import Path

import pytest

from schedmate.cli import COMMANDS
from streams.producers.collector_socket import DEFAULT_SOCKET

UNITS = sorted((Path(__file__).parents[2] / "packaging" / "systemd").glob("*.service"))
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.service"))
INSTALLED = "/opt/schedmate/bin/schedmate"
ANALYZE = shutil.which("systemd-analyze")


def verify(unit: Path) -> subprocess.CompletedProcess[str]:
    assert ANALYZE is not None
    return subprocess.run(
        [ANALYZE, "verify", "--man=no", unit], capture_output=True, text=True, check=False, timeout=60
    )


def installed(unit: Path, folder: Path, **changes: str) -> Path:
    """A copy of `unit` that names a program which this machine has: systemd refuses one that is absent."""
    text = unit.read_text().replace(INSTALLED, "/bin/true")
    for old, new in changes.items():
        text = text.replace(old, new)
    copy = folder / unit.name
    copy.write_text(text)
    return copy


@pytest.mark.skipif(ANALYZE is None, reason="no systemd-analyze; apt-get install systemd")
@pytest.mark.parametrize("unit", [*UNITS, *EXAMPLES], ids=lambda unit: unit.stem)
def test_systemd_accepts_the_unit_without_a_word(unit: Path, tmp_path: Path) -> None:
    checked = verify(installed(unit, tmp_path))
    assert (checked.returncode, checked.stderr) == (0, "")


def test_the_collector_listens_where_pipes_look() -> None:
    (unit,) = [unit for unit in UNITS if unit.stem == "schedmate-collector"]
    lines = unit.read_text().splitlines()
    (start,) = [line for line in lines if line.startswith("ExecStart=")]
    socket = start.split("--socket ")[1].split()[0]
    assert socket.replace("%t", "/run") == DEFAULT_SOCKET
    assert f"RuntimeDirectory={Path(DEFAULT_SOCKET).parent.name}" in lines
    assert f'#   socket = "{DEFAULT_SOCKET}"' in lines


@pytest.mark.skipif(ANALYZE is None, reason="no systemd-analyze; apt-get install systemd")
def test_systemd_would_have_said_something(tmp_path: Path) -> None:
    assert "RestrictRealtimes" in verify(installed(UNITS[0], tmp_path, RestrictRealtime="RestrictRealtimes")).stderr


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_the_unit_runs_a_command_that_exists_and_gives_it_little(unit: Path) -> None:
    lines = unit.read_text().splitlines()
    [start] = [line for line in lines if line.startswith("ExecStart=")]
    program, command, *_ = start.removeprefix("ExecStart=").split()
    assert program == INSTALLED
    assert command in COMMANDS
    wanted = {"DynamicUser=yes", "Restart=on-failure", "NoNewPrivileges=yes", "ProtectSystem=strict"}
    wanted |= {"EnvironmentFile=-/etc/schedmate/environment", f"StateDirectory={unit.stem}"}
    assert wanted <= set(lines)
