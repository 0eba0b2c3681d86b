"""The tests that hold for every actuator, run on this one."""

import json
from pathlib import Path

import pytest
from schedmate_directory.actuator import DirectoryActuator

from scheduler_bridge.schedulers.conformance import ActuatorConformance


class TestDirectoryActuator(ActuatorConformance):
    @pytest.fixture
    def actuator(self, tmp_path: Path) -> DirectoryActuator:
        return DirectoryActuator(tmp_path)

    @pytest.fixture
    def failed_job(self, tmp_path: Path) -> str:
        (tmp_path / "failed.json").write_text(json.dumps({"state": "failed", "nodes": ["n1"], "user": "ada"}))
        return "failed"

    @pytest.fixture
    def running_job(self, tmp_path: Path) -> str:
        (tmp_path / "running.json").write_text(json.dumps({"state": "running", "nodes": ["n1"], "user": "ada"}))
        return "running"
