"""The rules for actuators, on a real Slurm."""

from collections.abc import Iterator

import pytest

from scheduler_bridge.schedulers.conformance import ActuatorConformance
from scheduler_bridge.schedulers.slurm.actuator import SlurmActuator
from scheduler_bridge.schedulers.slurm.client import SlurmClient, SlurmCommands
from tests.servers.slurm import Slurm


@pytest.mark.slurm
class TestSlurmActuator(ActuatorConformance):
    @pytest.fixture
    def actuator(self, slurm: Slurm) -> SlurmActuator:
        return SlurmActuator(SlurmClient(SlurmCommands({"SLURM_CONF": str(slurm.configuration)})))

    @pytest.fixture
    def failed_job(self, slurm: Slurm) -> Iterator[str]:
        job = slurm.submit('test -n "$SLURM_RESTART_COUNT" && exec sleep 60; exit 3')
        slurm.wait(job, "FAILED")
        yield job
        slurm.run("scancel", job)

    @pytest.fixture
    def running_job(self, slurm: Slurm) -> Iterator[str]:
        job = slurm.submit("sleep 60")
        slurm.wait(job, "RUNNING")
        yield job
        slurm.run("scancel", job)
