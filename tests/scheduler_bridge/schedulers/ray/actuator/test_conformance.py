"""The rules for actuators, on a real Ray cluster."""

import uuid
from collections.abc import Iterator

import pytest

from scheduler_bridge.schedulers.conformance import ActuatorConformance
from scheduler_bridge.schedulers.ray.actuator import RayActuator, RayLimits
from tests.servers.ray import RayServer


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(900)
class TestRayActuator(ActuatorConformance):
    @pytest.fixture
    def actuator(self, ray_server: RayServer) -> RayActuator:
        return RayActuator(ray_server.client, RayLimits(settle=30))

    @pytest.fixture
    def failed_job(self, ray_server: RayServer) -> Iterator[str]:
        script = 'test -n "$SCHEDMATE_ATTEMPT" && exec sleep 600; exit 3'
        job = ray_server.submit(f"train-{uuid.uuid4().hex[:8]}", script, entrypoint_num_gpus=0.5)
        ray_server.wait(job, "FAILED")
        yield job
        stop(ray_server)

    @pytest.fixture
    def running_job(self, ray_server: RayServer) -> Iterator[str]:
        job = ray_server.submit(f"train-{uuid.uuid4().hex[:8]}", "sleep 600", entrypoint_num_gpus=0.5)
        ray_server.wait(job, "RUNNING")
        yield job
        stop(ray_server)


def stop(ray_server: RayServer) -> None:
    """Stop all jobs, so that nothing holds the cluster."""

    def idle() -> bool:
        left = [job.id for job in ray_server.client.jobs() if not job.over]
        for job in left:
            ray_server.client.stop(job)
        return not left

    ray_server.until(idle, "no job runs")
