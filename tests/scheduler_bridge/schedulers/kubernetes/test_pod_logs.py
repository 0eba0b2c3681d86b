"""Logs of pods: whose they are, and what a collector makes of them; on a cluster of objects, and on a real control plane."""

import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

pytest.importorskip("kubernetes")

from schedmate_records import LogChunk
from scheduler_bridge.schedulers.kubernetes.actuator import KubernetesActuator
from scheduler_bridge.schedulers.kubernetes.client.client import KubernetesClient
from scheduler_bridge.schedulers.kubernetes.client.errors import KubernetesNotFound
from scheduler_bridge.schedulers.kubernetes.client.objects import Pod
from scheduler_bridge.schedulers.kubernetes.client.resources import main_container
from scheduler_bridge.schedulers.kubernetes.client.workloads.batch_job import Job
from scheduler_bridge.schedulers.kubernetes.pod_logs import PodDirectory, PodLogs
from tests.servers.kubernetes import Kubernetes
from tests.streams.producers.collector_site import Site, site
from tests.waiting import until

__all__ = ["site"]

STAMP = "2031-05-06T07:08:09Z stdout F "
WORK = [{"name": "proxy"}, {"name": "train", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]


def pod(
    name: str,
    owner: str = "",
    *,
    kind: str = "Job",
    owner_uid: str = "",
    containers: list[dict[str, Any]] | None = None,
    **notes: str,
) -> Pod:
    reference = {
        "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
        "kind": kind,
        "name": owner,
        "uid": owner_uid or f"uid-{owner}",
        "controller": True,
    }
    meta = {
        "name": name,
        "namespace": "a",
        "uid": f"pod-{name}",
        "ownerReferences": [reference] if owner else [],
        "annotations": {f"batch.kubernetes.io/{key.replace('_', '-')}": text for key, text in notes.items()},
    }
    return msgspec.convert({"metadata": meta, "spec": {"containers": containers or WORK}}, Pod)


def job(name: str, attempt: int = 0, mode: str = "Indexed") -> Job:
    labels = {"schedmate.io/lineage": "train"} if attempt else {}
    notes = {"schedmate.io/attempt": str(attempt)}
    meta = {"name": name, "namespace": "a", "uid": f"uid-{name}", "labels": labels, "annotations": notes}
    return msgspec.convert({"metadata": meta, "spec": {"completionMode": mode}}, Job)


class Cluster:
    """What an API server would say of the pods of one node, and of Jobs."""

    def __init__(self, pods: list[Pod], jobs: list[Job]) -> None:
        self.pods, self.jobs = pods, {each.metadata.name: each for each in jobs}
        self.asked: list[str] = []
        self.ends = threading.Event()

    def list_all(self, kind: type[Pod], namespace: str, fields: str) -> tuple[list[Pod], str]:
        assert fields == "spec.nodeName=n1"
        return self.pods, "1"

    def watch(self, kind: type[Pod], version: str, namespace: str, fields: str) -> Iterator[bytes]:
        self.ends.wait(60)
        yield from ()

    def workload(self, kind: type[Job], namespace: str, name: str) -> Job:
        self.asked.append(f"{namespace}/{name}")
        if name not in self.jobs:
            raise KubernetesNotFound("a Job", "none", "nothing was done")
        return self.jobs[name]


def write(root: Path, one: Pod, container: str, restart: int, text: str, *, directory: str = "") -> Path:
    """Add a line as a container runtime does."""
    name = directory or f"{one.metadata.namespace}_{one.metadata.name}_{one.metadata.uid}"
    file = root / name / container / f"{restart}.log"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as out:
        out.write(f"{STAMP}{text}\n")
    return file


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[Callable[[Cluster], PodLogs]]:
    made: list[tuple[Cluster, PodLogs]] = []

    def make(cluster: Cluster) -> PodLogs:
        made.append((cluster, PodLogs(tmp_path / "pods", "n1", cast(KubernetesClient, cluster))))
        made[-1][1].start()
        return made[-1][1]

    yield make
    for cluster, one in made:
        one.close()
        cluster.ends.set()


def sources(found: dict[str, LogChunk]) -> list[tuple[str, int, int, str]]:
    return sorted((chunk.job, chunk.attempt, chunk.rank, chunk.node) for chunk in found.values())


def test_the_owner_of_a_pod_names_its_job(tmp_path: Path, logs: Callable[[Cluster], PodLogs]) -> None:
    pods = [
        pod("train-r1-0-x", "train-r1", job_completion_index="3"),
        pod("plain-x", "plain", job_completion_index="7"),
        pod("web-x", "web", kind="ReplicaSet"),
        pod("alone"),
        pod("late-x", "gone"),
        pod("forged-x", "plain", owner_uid="uid-of-an-earlier-job"),
    ]
    cluster = Cluster(pods, [job("train-r1", 1), job("plain", mode="NonIndexed")])
    found = logs(cluster)
    for one in pods:
        write(tmp_path / "pods", one, "train", 0, "x")
        write(tmp_path / "pods", one, "proxy", 0, "y")
    until(lambda: len(found.found()) == 2)
    assert sources(found.found()) == [("a/plain", 0, 0, "n1"), ("a/train", 1, 3, "n1")]
    assert all("/train/" in path for path in found.found())
    cluster.pods = []
    assert len(found.found()) == 2, "a log outlives its pod"


def test_a_directory_that_no_kubelet_made_is_nobodys(tmp_path: Path, logs: Callable[[Cluster], PodLogs]) -> None:
    one = pod("train-x", "train")
    found = logs(Cluster([one], [job("train", mode="NonIndexed")]))
    write(tmp_path / "pods", one, "train", 0, "x", directory=f"b_train-x_{one.metadata.uid}")
    write(tmp_path / "pods", one, "train", 0, "x", directory="no-pod")
    write(tmp_path / "pods", one, "train", 0, "x", directory=f"a_train-x_{one.metadata.uid}_")
    real = write(tmp_path / "pods", one, "train", 2, "x")
    real.with_name("2.log.20310506-070809").write_text("rotated\n")
    until(found.found)
    assert list(found.found()) == [str(real)]


def test_rotation_and_restarts_of_a_container(site: Site, tmp_path: Path, logs: Callable[[Cluster], PodLogs]) -> None:
    one = pod("train-x", "train", job_completion_index="2")
    found = logs(Cluster([one], [job("train", 0)]))
    first = write(tmp_path / "pods", one, "train", 0, "step 1")
    until(found.found)
    collector = site.start(globs=[], pods=found)
    site.settle(collector)
    first.rename(first.with_name("0.log.20310506-070809"))
    write(tmp_path / "pods", one, "train", 0, "step 2")
    site.settle(collector)
    write(tmp_path / "pods", one, "train", 1, "again, step 1")
    site.settle(collector)
    assert site.once() == [f"{STAMP}{text}" for text in ("step 1", "step 2", "again, step 1")]
    assert {(chunk.job, chunk.rank, chunk.node) for chunk in site.broker.chunks} == {("a/train", 2, "n1")}
    assert len({chunk.producer for chunk in site.broker.chunks}) == 2
    # A collector that starts again reads on behind a rotation, and passes over what the kubelet compressed.
    site.stop(collector)
    first.rename(first.with_name("0.log.20310506-080910"))
    first.with_name("0.log.20310506-070809").rename(first.with_name("0.log.20310506-070809.gz"))
    write(tmp_path / "pods", one, "train", 0, "step 3")
    again = logs(Cluster([one], [job("train", 0)]))
    until(lambda: len(again.found()) == 2)
    site.settle(site.start(globs=[], pods=again))
    assert site.once()[3:] == [f"{STAMP}step 3"]


def test_whose_lines_are_the_jobs() -> None:
    assert main_container(pod("p")).name == "train"  # type: ignore[union-attr]
    assert main_container(pod("p", containers=[{"name": "a"}, {"name": "b"}])).name == "a"  # type: ignore[union-attr]
    assert job("train").rank(pod("p", job_completion_index="-1")) == 0
    assert job("train").rank(pod("p", job_completion_index="9" * 30)) == 0
    assert job("train").rank(pod("p", job_completion_index="12")) == 12
    assert PodDirectory.parse("a_b_c") == PodDirectory("a", "b", "c")
    assert PodDirectory.parse("a__c") is None


@pytest.mark.kubernetes
@pytest.mark.slow
def test_on_a_real_cluster(kubernetes: Kubernetes, tmp_path: Path) -> None:
    """Both attempts of a restarted Indexed Job, each rank under the id, attempt and rank that the watcher gives them."""
    space = kubernetes.namespace(f"l-{uuid.uuid4().hex[:8]}")
    name = kubernetes.submit(space, "train", pods=2, indexed=True, template={"nodeName": "gpu-1"}, gpus=1)
    kubernetes.wait_running(name, 2)
    found = PodLogs(tmp_path, "gpu-1", KubernetesClient.connect(kubernetes.kubeconfig("collector")))
    found.start()
    try:

        def wrote(job: str) -> None:
            for one in kubernetes.pods(job):
                meta = one["metadata"]
                directory = tmp_path / f"{space}_{meta['name']}_{meta['uid']}" / "train"
                directory.mkdir(parents=True, exist_ok=True)
                (directory / "0.log").write_text(f"{STAMP}step 1\n")

        wrote(name)
        kubernetes.until(lambda: len(found.found()) == 2, "both logs are found")
        assert sources(found.found()) == [(name, 0, 0, "gpu-1"), (name, 0, 1, "gpu-1")]
        kubernetes.end(name, 1)
        actuator = KubernetesActuator(KubernetesClient.connect(kubernetes.kubeconfig("bridge")))
        kubernetes.until(lambda: actuator.job(name).state == "failed", "it failed")  # type: ignore[union-attr]
        actuator.restart(name, (), "restart/0123456789abcdef")
        kubernetes.wait_running(f"{space}/train-r1", 2)
        wrote(f"{space}/train-r1")
        kubernetes.until(lambda: len(found.found()) == 4, "all logs are found")
        assert sources(found.found())[2:] == [(name, 1, 0, "gpu-1"), (name, 1, 1, "gpu-1")]
    finally:
        found.close()
        kubernetes.delete(f"/apis/batch/v1/namespaces/{space}/jobs")
