"""The rules for actuators, on a real control plane of Kubernetes."""

import uuid
from collections.abc import Iterator

import pytest

from scheduler_bridge.schedulers import SchedulerJobState
from scheduler_bridge.schedulers.conformance import ActuatorConformance
from tests.servers.kubernetes import Kubernetes

pytest.importorskip("kubernetes")

from scheduler_bridge.schedulers.kubernetes.actuator import KubernetesActuator, KubernetesLimits
from scheduler_bridge.schedulers.kubernetes.client.client import KubernetesClient


@pytest.mark.kubernetes
@pytest.mark.slow
class TestKubernetesActuator(ActuatorConformance):
    node = "gpu-1"

    @pytest.fixture
    def actuator(self, kubernetes: Kubernetes) -> KubernetesActuator:
        client = KubernetesClient.connect(kubernetes.kubeconfig("bridge"))
        return KubernetesActuator(client, KubernetesLimits(stop_timeout=30, settle=10))

    @pytest.fixture
    def running_job(self, kubernetes: Kubernetes, actuator: KubernetesActuator) -> Iterator[str]:
        space = kubernetes.namespace(f"t-{uuid.uuid4().hex[:8]}")
        job = kubernetes.submit(space, "train")
        kubernetes.wait_running(job)
        reach(kubernetes, actuator, job, SchedulerJobState.RUNNING)
        yield job
        kubernetes.delete(f"/apis/batch/v1/namespaces/{space}/jobs?propagationPolicy=Background")

    @pytest.fixture
    def failed_job(self, kubernetes: Kubernetes, actuator: KubernetesActuator, running_job: str) -> str:
        kubernetes.end(running_job, 1)
        reach(kubernetes, actuator, running_job, SchedulerJobState.FAILED)
        return running_job


def reach(kubernetes: Kubernetes, actuator: KubernetesActuator, job: str, state: SchedulerJobState) -> None:
    def reached() -> bool:
        seen = actuator.job(job)
        return seen is not None and seen.state is state

    kubernetes.until(reached, f"{job} is {state}")
