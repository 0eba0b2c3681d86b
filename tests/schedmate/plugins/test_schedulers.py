"""The scheduler that the settings choose."""

import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from schedmate.plugins.plugins import SCHEDULERS, installed
from schedmate.plugins.schedulers import actuator, chosen_scheduler, find_scheduler
from schedmate.settings.settings import SettingsError, load
from schedmate_records import UserError
from tests.docs.pages import ROOT


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEDMATE_CONFIG", "/dev/null")


@pytest.mark.parametrize("name", ["kubernetes", "ray", "slurm"])
def test_each_scheduler_has_its_actuator(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_API_SERVER_ADDRESS", "http://ray-head:8265")
    monkeypatch.setenv("RAY_AUTH_TOKEN", "t" * 64)
    monkeypatch.setattr("scheduler_bridge.schedulers.kubernetes.client.client.KubernetesClient.connect", MagicMock())
    assert actuator(load(flags={"bridge.scheduler": name})).name == name


def test_clusters_of_slurm_have_one_actuator() -> None:
    found = actuator(load(flags={"slurm.clusters": "beta"}))
    assert type(found).__name__ == "SlurmClusters"


def test_local_scheduler_is_refused_in_another_process() -> None:
    with pytest.raises(UserError, match="schedmate demo"):
        actuator(load(flags={"bridge.scheduler": "local"}))


@pytest.mark.parametrize("name", ["node_check", "stack_command"])
def test_command_that_a_scheduler_cannot_run_is_refused(name: str) -> None:
    assert chosen_scheduler(load(flags={f"bridge.{name}": "check 1"})).name == "slurm"
    with pytest.raises(SettingsError, match=rf"expected no bridge\.{name} with Kubernetes"):
        chosen_scheduler(load(flags={f"bridge.{name}": "check 1", "bridge.scheduler": "kubernetes"}))


@pytest.mark.parametrize("name", ["Slurm", "", "a-b", "../x", "1x", "x" * 40])
def test_text_that_is_no_name_is_refused_by_the_settings(name: str) -> None:
    with pytest.raises(SettingsError, match=r"bridge\.scheduler"):
        load(flags={"bridge.scheduler": name})


def test_section_of_the_chosen_scheduler_is_accepted_where_it_is_not_installed(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('[bridge]\nscheduler = "pbs"\n[pbs]\nserver = "head"\n')
    assert load(file).plugins.values == {"pbs": {"server": "head"}}
    with pytest.raises(UserError, match="got pbs; installed"):
        chosen_scheduler(load(file))
    file.write_text('[pbs]\nserver = "head"\n')
    with pytest.raises(SettingsError, match="unknown section: pbs"):
        load(file)


def test_commands_that_start_at_once_read_no_entry_points() -> None:
    program = (
        "import importlib.metadata as metadata, sys\n"
        "read = metadata.entry_points\n"
        "def refuse(**how):\n"
        "    assert 'schedmate' not in how.get('group', 'schedmate'), 'entry points were read'\n"
        "    return read(**how)\n"
        "metadata.entry_points = refuse\n"
        "sys.argv = ['schedmate', *sys.argv[1:]]\n"
        "from schedmate.pipe import main\n"
        "main()\n"
    )
    quiet = ("--set", "kafka.brokers=127.0.0.1:1", "--set", "producer.close_seconds=0.1", "pipe", "--job", "1")
    for arguments in (("--version",), ("--set", "bridge.scheduler=kubernetes", "--version"), (*quiet, "true")):
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        assert "entry points were read" not in done.stderr


@pytest.mark.parametrize("command", ["bridge", "watch_scheduler", "starts", "spot"])
def test_command_contains_no_name_of_a_scheduler(command: str) -> None:
    source = (
        (ROOT / "schedmate" / "cli" / f"{command}.py")
        .read_text()
        .replace("Example: `schedmate watch-scheduler slurm`", "")
    )
    for name in installed(SCHEDULERS):
        assert name == "local" or find_scheduler(name).title not in source
        assert f'"{name}"' not in source
        assert f"schedulers.{name}" not in source


@pytest.mark.parametrize("name", ["kubernetes", "ray", "slurm"])
def test_readme_states_the_limits_of_each_scheduler(name: str) -> None:
    limits = (ROOT / "README.md").read_text().partition("\n## Limits\n")[2].partition("\n## ")[0]
    assert name in limits.lower()
