"""Each command serves the metrics that docs/metrics.md says it does: it is run up to its work, told to stop, and no server is there."""

import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from typer.testing import CliRunner

from schedmate.cli import app
from schedmate.services.metrics import GROUPS
from schedmate.services.service import Service
from schedmate.services.telemetry import Telemetry, metrics_of

RUNS = (
    "worker",
    "--set language_model.servers=http://127.0.0.1:1/v1 model-worker",
    "--set redis.url=redis://127.0.0.1:1 --set clickhouse.job_lines_days=1 sink",
    "bridge",
    "spot",
    "starts --every 60",
    "--set notify.slack_file=DIR/slack notify",
    "--set advisor.history=DIR/history.db --set advisor.models=DIR advisor",
    "collect --socket DIR/socket --checkpoint DIR/collect.json",
    "gpu-agent --replay shipped --stdout",
    "watch-scheduler slurm --checkpoint DIR/slurm.json",
    "watch-scheduler kubernetes --checkpoint DIR/kubernetes.json",
    "watch-scheduler ray --checkpoint DIR/ray.json",
)
"""Every command that serves metrics, with all that it may serve turned on."""
ASKED = (
    "schedmate.connections.permitted",
    "schedmate.connections.wait_for_broker",
    "schedmate.services.bridge.History",
    "schedmate.services.job_lines._pump",
    "schedmate.services.log_windows.LogWindows",
    "schedmate.services.spot.PastQuotas",
    "streams.kafka.KafkaFollower",
    "streams.kafka.KafkaReader",
    "scheduler_bridge.schedulers.kubernetes.client.client.KubernetesClient",
)
"""What would ask a server."""


def names(*groups: object) -> set[str]:
    return {family.name for group in groups for metric in metrics_of(group) for family in metric.collect()}


def listed() -> dict[str, set[str]]:
    """What docs/metrics.md says, by command."""
    found = defaultdict(set)
    for commands, make in GROUPS:
        if commands.endswith(", with a plugin"):
            continue  # tests/examples/test_plugin.py
        for command in commands.removesuffix(", with --socket").split(", "):
            found[command] |= names(make())
    return found


def exported(run: str, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names that a command has exported by the time that it stops."""
    telemetry = Telemetry()
    others = {family.name for family in telemetry.registry.collect()}

    @contextmanager
    def service(*_: object, **__: object) -> Iterator[Service]:
        running = Service(telemetry)
        running.stop.set()
        yield running

    monkeypatch.setattr("schedmate.services.service.service", service)
    done = CliRunner().invoke(app, run.split())
    assert done.exit_code == 0, f"{run}: {done.output or done.exception!r}"
    return {family.name for family in telemetry.registry.collect()} - others


def test_a_command_exports_the_groups_that_are_listed_for_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "slack").write_text("https://hooks.slack.com/services/made/up")
    for name in ASKED:
        monkeypatch.setattr(name, MagicMock())
    for module in ("streams.runtimes.faust_worker", "streams.model_worker.faust_worker"):
        monkeypatch.setitem(sys.modules, module, MagicMock())
    found: dict[str, set[str]] = defaultdict(set)
    for run in RUNS:
        [command] = set(run.split()) & set(listed())
        found[command] |= exported(run.replace("DIR", str(tmp_path)), monkeypatch)
    assert found.keys() == listed().keys(), "add to RUNS how the command that is missing is run"
    for command, wanted in listed().items():
        assert wanted <= found[command], f"{command}: hand what makes {wanted - found[command]} to `telemetry.export`"
        assert found[command] <= wanted, f"{command}: list what makes {found[command] - wanted} in GROUPS"
