"""Job events from Jobs and pods, and from a real control plane."""

import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("kubernetes")

from schedmate_records import EventKind, JobEvent
from scheduler_bridge.schedulers.kubernetes.actuator import KubernetesActuator
from scheduler_bridge.schedulers.kubernetes.client.client import KubernetesClient
from scheduler_bridge.schedulers.kubernetes.client.objects import OwnerReference, Pod
from scheduler_bridge.schedulers.kubernetes.client.workloads.batch_job import Job
from scheduler_bridge.schedulers.kubernetes.client.workloads.kind import WorkloadObject
from scheduler_bridge.schedulers.kubernetes.client.workloads.kinds import kind_named
from scheduler_bridge.schedulers.kubernetes.events.changes import ReportedJob, changes, gpus
from scheduler_bridge.schedulers.kubernetes.events.watcher import KubernetesWatcher
from tests.scheduler_bridge.schedulers.slurm.kept_events import KeptEvents
from tests.servers.kubernetes import Kubernetes

SUBMITTED, STARTED, REQUEUED, ENDED = EventKind.SUBMITTED, EventKind.STARTED, EventKind.REQUEUED, EventKind.ENDED


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02d}Z"


def job(name: str = "train", attempt: int = 0, *, made: int = 0, end: str = "", uid: str = "", **status: Any) -> Job:
    conditions = (
        [{"type": end, "status": "True", "reason": "BackoffLimitExceeded", "lastTransitionTime": at(50)}] if end else []
    )
    container = {"command": ["python"], "args": ["train.py"], "workingDir": "/work"}
    meta = {
        "name": name if not attempt else f"{name}-r{attempt}",
        "namespace": "a",
        "uid": uid or f"{name}{attempt}",
        "creationTimestamp": at(made),
        "annotations": {"schedmate.io/attempt": str(attempt), "schedmate.io/incarnation": f"{name}0"},
        "labels": {"schedmate.io/lineage": name} if attempt else {},
    }
    spec = {"template": {"spec": {"containers": [container]}}}
    return msgspec.convert(
        {"metadata": meta, "spec": spec, "status": {"conditions": conditions, **status}}, Job, strict=False
    )


def pod(
    owner: str, phase: str = "Running", node: str = "n1", code: int | None = None, *, reason: str = "", second: int = 40
) -> Pod:
    terminated = {"exitCode": code, "reason": reason, "finishedAt": at(second)} if code is not None else None
    status = {"phase": phase, "startTime": at(10), "containerStatuses": [{"state": {"terminated": terminated}}]}
    limits = {"resources": {"limits": {"nvidia.com/gpu": "8", "cpu": "4"}}}
    meta = {"name": "p", "namespace": "a", "labels": {"batch.kubernetes.io/controller-uid": owner}}
    return msgspec.convert(
        {"metadata": meta, "spec": {"nodeName": node, "containers": [limits]}, "status": status}, Pod, strict=False
    )


def step(
    known: dict[str, ReportedJob], jobs: list[Job], pods: list[Pod]
) -> tuple[list[JobEvent], dict[str, ReportedJob]]:
    return changes(known, jobs, pods, 1000.0)


def kinds(events: list[JobEvent]) -> list[tuple[int, EventKind]]:
    return [(event.attempt, event.kind) for event in events]


def test_the_life_of_a_job() -> None:
    events, known = step({}, [job(active=1)], [pod("train0", "Pending", "")])
    assert kinds(events) == [(0, SUBMITTED)]
    assert (events[0].job, events[0].user, events[0].command, events[0].directory) == (
        "a/train",
        "a",
        "python train.py",
        "/work",
    )
    events, known = step(known, [job(active=1)], [pod("train0")])
    assert kinds(events) == [(0, STARTED)]
    assert (events[0].nodes, events[0].gpus) == (["n1"], 8.0)
    assert step(known, [job(active=1)], [pod("train0")])[0] == []
    events, known = step(known, [job(end="Failed")], [pod("train0", "Failed", code=3)])
    assert kinds(events) == [(0, ENDED)]
    assert (events[0].exit_code, events[0].signal, events[0].state, events[0].nodes) == (3, 0, "FAILED", ["n1"])


def test_a_job_created_again_under_its_name_is_another_job() -> None:
    first, known = step({}, [job(active=1)], [pod("train0")])
    events, known = step(known, [job(active=1, uid="u2", made=30)], [pod("u2")])
    assert kinds(events) == [(0, ENDED), (0, SUBMITTED), (0, STARTED)]
    assert [event.incarnation for event in events] == ["train0", "u2", "u2"]
    assert {event.id for event in first}.isdisjoint(event.id for event in events)
    assert step(known, [job(active=1, uid="u2", made=30)], [pod("u2")])[0] == []


def test_a_job_created_again_after_restarts_is_another_job() -> None:
    restarted = job(attempt=1, made=20, active=1)
    _, known = step({}, [job(end="Failed"), restarted], [pod("train1")])
    again = job(active=1, uid="u2", made=40)
    events, known = step(known, [restarted, again], [pod("train1"), pod("u2")])
    assert [(event.incarnation, event.attempt, event.kind) for event in events] == [
        ("train0", 1, ENDED),
        ("u2", 0, SUBMITTED),
        ("u2", 0, STARTED),
    ]
    assert step(known, [restarted, again], [pod("train1"), pod("u2")])[0] == []


def test_a_gang_has_started_when_all_of_it_runs() -> None:
    pods = [pod("train0"), pod("train0", "Pending", "n2")]
    events, known = step({}, [job(active=2)], pods)
    assert kinds(events) == [(0, SUBMITTED)]
    events, known = step(known, [job(active=2)], [pod("train0"), pod("train0", node="n2")])
    assert (kinds(events), events[0].nodes, events[0].gpus) == ([(0, STARTED)], ["n1", "n2"], 16.0)


def jobset(attempt: int = 0, *conditions: str, suspend: bool = False, acts: str = "") -> WorkloadObject:
    spec = {"containers": [{"command": ["python"], "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}
    workers = {"name": "w", "replicas": 2, "template": {"spec": {"parallelism": 1, "template": {"spec": spec}}}}
    notes = {"schedmate.io/attempt": str(attempt), "schedmate.io/acts": acts}
    meta = {"name": "train", "namespace": "a", "uid": "set", "creationTimestamp": at(0), "annotations": notes}
    kind = kind_named("jobset")
    assert kind
    held = [{"type": one, "status": "True", "lastTransitionTime": at(50)} for one in conditions]
    body = {
        "metadata": meta,
        "spec": {"replicatedJobs": [workers], "suspend": suspend},
        "status": {"conditions": held},
    }
    return msgspec.convert(body, kind, strict=False)


def part(index: int) -> Job:
    """A Job of the JobSet."""
    one = job(f"train-w-{index}", active=1)
    owner = OwnerReference(kind="JobSet", api_version="jobset.x-k8s.io/v1alpha2", uid="set", controller=True)
    return msgspec.structs.replace(one, metadata=msgspec.structs.replace(one.metadata, owner_references=[owner]))


def test_a_jobset_is_one_job_with_the_pods_of_all_its_jobs() -> None:
    parts = [part(0), part(1)]
    events, known = changes({}, [jobset(), *parts], [pod("train-w-00")], 1000.0)
    assert [(event.job, event.kind, event.gpus) for event in events] == [("a/jobset/train", SUBMITTED, 16.0)]
    pods = [pod("train-w-00"), pod("train-w-10", node="n2")]
    events, known = changes(known, [jobset(), *parts], pods, 1000.0)
    assert [(event.kind, event.nodes, event.gpus) for event in events] == [(STARTED, ["n1", "n2"], 16.0)]
    evicted, known = changes(known, [jobset(1), *parts], pods, 1000.0)  # stopped and let go by the bridge
    assert kinds(evicted) == [(1, REQUEUED), (1, STARTED)]
    events, _ = changes(known, [jobset(1, "Failed"), *parts], [pod("train-w-00", "Failed", code=3)], 1000.0)
    assert [(event.kind, event.exit_code, event.state) for event in events] == [(ENDED, 3, "FAILED")]


def test_a_jobset_that_the_bridge_cancelled_is_over_though_it_is_only_suspended() -> None:
    _, known = changes({}, [jobset()], [], 1000.0)
    assert changes(known, [jobset(0, "Suspended", suspend=True)], [], 1000.0)[0] == []
    acts = f"schedmate:hold/{'0' * 16},cancel/{'1' * 16}"
    events, _ = changes(known, [jobset(0, "Suspended", suspend=True, acts=acts)], [], 1000.0)
    assert [(event.kind, event.state) for event in events] == [(ENDED, "CANCELLED")]


def test_a_cancelled_jobset_that_a_person_resumes_is_started_again() -> None:
    acts = f"schedmate:cancel/{'1' * 16}"
    pods = [pod("train-w-00"), pod("train-w-10", node="n2")]
    parts = [part(0), part(1)]
    _, known = changes({}, [jobset(), *parts], pods, 1000.0)
    _, known = changes(known, [jobset(0, "Suspended", suspend=True, acts=acts)], [], 1000.0)
    events, known = changes(known, [jobset(acts=acts), *parts], pods, 1000.0)
    assert kinds(events) == [(1, REQUEUED), (1, STARTED)]
    assert changes(known, [jobset(acts=acts), *parts], pods, 1000.0)[0] == []
    events, _ = changes(known, [jobset(0, "Failed", acts=acts)], [], 1000.0)
    assert [(event.attempt, event.kind, event.state) for event in events] == [(1, ENDED, "FAILED")]


def test_a_part_is_no_job_of_its_own_though_it_is_seen_before_the_whole() -> None:
    events, known = changes({}, [part(0), part(1)], [pod("train-w-00")], 1000.0)
    assert (events, known) == ([], {})


def test_a_part_that_was_told_of_by_an_earlier_version_is_told_of_until_it_ends() -> None:
    alone = job("train-w-0", active=1)
    _, known = changes({}, [alone], [pod("train-w-00")], 1000.0)
    events, known = changes(known, [jobset(), part(0)], [pod("train-w-00")], 1000.0)
    assert [(event.job, event.kind) for event in events] == [("a/jobset/train", SUBMITTED)]
    over = msgspec.structs.replace(part(0), status=job("train-w-0", end="Failed").status)
    events, _ = changes(known, [jobset(), over], [pod("train-w-00", "Failed", code=3)], 1000.0)
    assert [(event.job, event.state) for event in events if event.kind is ENDED] == [("a/train-w-0", "FAILED")]


@pytest.mark.parametrize(
    ("code", "reason", "how"),
    [
        (137, "OOMKilled", (None, 9, "OUT_OF_MEMORY")),
        (143, "Error", (None, 15, "FAILED")),
        (255, "Error", (255, 0, "FAILED")),
        (1, "Error", (1, 0, "FAILED")),
    ],
)
def test_how_it_ended(code: int, reason: str, how: tuple[int | None, int, str]) -> None:
    events, _ = step({}, [job(end="Failed")], [pod("train0", "Failed", code=code, reason=reason)])
    assert kinds(events) == [(0, SUBMITTED), (0, STARTED), (0, ENDED)]
    assert (events[-1].exit_code, events[-1].signal, events[-1].state) == how


def test_the_first_pod_to_fail_is_the_cause() -> None:
    pods = [pod("train0", "Failed", code=143, second=41), pod("train0", "Failed", "n2", 7, second=40)]
    assert step({}, [job(end="Failed")], pods)[0][-1].exit_code == 7


def test_a_restart_is_the_next_attempt_of_the_same_job() -> None:
    _, known = step({}, [job(end="Failed")], [pod("train0", "Failed", code=1)])
    after = [job(end="Failed"), job(attempt=1, made=55, active=1)]
    events, known = step(known, after, [pod("train1", node="n2")])
    assert kinds(events) == [(1, REQUEUED), (1, STARTED)]
    assert {event.job for event in events} == {"a/train"}
    assert step(known, after, [pod("train1", node="n2")])[0] == []
    assert step(known, [after[1]], [pod("train1", node="n2")])[0] == []


def test_a_deleted_job_was_cancelled_and_its_name_may_come_again() -> None:
    _, known = step({}, [job(active=1)], [pod("train0")])
    events, known = step(known, [job(uid="other")], [])
    assert [(event.kind, event.state) for event in events] == [(ENDED, "CANCELLED"), (SUBMITTED, "")]
    assert len({event.id for event in events}) == 2
    events, known = step(known, [], [])
    assert (kinds(events), known) == ([(0, ENDED)], {})


def test_parts_of_gpus_are_not_counted() -> None:
    part = msgspec.json.decode(
        b'{"metadata":{},"spec":{"containers":[{"resources":{"limits":{"nvidia.com/mig-1g.5gb":"2"}}}]}}', type=Pod
    )
    assert gpus([part.spec]) is None


@given(st.lists(st.integers(0, 5), max_size=20), st.data())
def test_told_twice_is_told_under_the_same_ids(moments: list[int], data: st.DataObject) -> None:
    failed = [pod("train0", "Failed", code=1)]
    life: list[tuple[list[Job], list[Pod]]] = [
        ([], []),
        ([job(active=1)], []),
        ([job(active=1)], [pod("train0")]),
        ([job(end="Failed")], failed),
        ([job(end="Failed"), job(attempt=1, made=55, active=1)], [*failed, pod("train1", node="n2")]),
        ([job(end="Failed"), job(attempt=1, made=55, end="Complete")], [*failed, pod("train1", "Succeeded", "n2", 0)]),
    ]
    known: dict[str, ReportedJob] = {}
    seen: dict[str, tuple[Any, ...]] = {}
    for moment in sorted(moments):
        events, after = step(known, *life[moment])
        for event in events:
            what = (event.job, event.attempt, event.kind, event.exit_code)
            assert seen.setdefault(event.id, what) == what
        if data.draw(st.booleans()):
            known = after


@pytest.mark.kubernetes
@pytest.mark.slow
class TestRealKubernetes:
    @pytest.fixture
    def watched(self, kubernetes: Kubernetes, tmp_path: Path) -> Iterator[tuple[KeptEvents, str]]:
        space = kubernetes.namespace(f"t-{uuid.uuid4().hex[:8]}")
        told, stop = KeptEvents(), threading.Event()
        client = KubernetesClient.connect(kubernetes.kubeconfig("watcher"))
        watcher = KubernetesWatcher(told.connect, tmp_path / "checkpoint.json", client)
        thread = threading.Thread(target=watcher.run, args=(stop, 0.1))
        thread.start()
        yield told, space
        stop.set()
        thread.join()
        watcher.close()
        kubernetes.delete(f"/apis/batch/v1/namespaces/{space}/jobs?propagationPolicy=Background")

    def until(self, kubernetes: Kubernetes, told: KeptEvents, job: str, kind: EventKind, attempt: int = 0) -> JobEvent:
        kubernetes.until(lambda: (attempt, kind) in kinds(told.of(job)), f"{job} is told as {kind}: {told.of(job)}")
        return next(event for event in told.of(job) if (event.attempt, event.kind) == (attempt, kind))

    def test_lives_of_jobs(self, kubernetes: Kubernetes, watched: tuple[KeptEvents, str]) -> None:
        told, space = watched
        began = time.time()
        well, killed, gone = (kubernetes.submit(space, name, gpus=1) for name in ("well", "killed", "gone"))
        started = self.until(kubernetes, told, well, STARTED)
        assert (started.gpus, started.user, started.command) == (1.0, space, "python train.py")
        self.until(kubernetes, told, killed, STARTED)
        kubernetes.end(well, 0)
        kubernetes.end(killed, 137, "OOMKilled")
        self.until(kubernetes, told, gone, STARTED)
        kubernetes.delete(f"/apis/batch/v1/namespaces/{space}/jobs/gone")
        ends = {one: self.until(kubernetes, told, one, ENDED) for one in (well, killed, gone)}
        assert [(end.exit_code, end.signal, end.state) for end in ends.values()] == [
            (0, 0, "COMPLETED"),
            (None, 9, "OUT_OF_MEMORY"),
            (None, None, "CANCELLED"),
        ]
        assert all(kinds(told.of(one)) == [(0, SUBMITTED), (0, STARTED), (0, ENDED)] for one in ends)
        assert all(began - 2 <= end.time <= time.time() + 2 for end in ends.values())

    def test_a_restart_of_the_bridge(self, kubernetes: Kubernetes, watched: tuple[KeptEvents, str]) -> None:
        told, space = watched
        job = kubernetes.submit(space, "train")
        node = self.until(kubernetes, told, job, STARTED).nodes[0]
        kubernetes.end(job, 1)
        assert self.until(kubernetes, told, job, ENDED).exit_code == 1
        actuator = KubernetesActuator(KubernetesClient.connect(kubernetes.kubeconfig("bridge")))
        actuator.restart(job, (node,), f"restart/{uuid.uuid4().hex[:16]}")
        assert self.until(kubernetes, told, job, STARTED, 1).nodes != [node]
        assert kinds(told.of(job)) == [(0, SUBMITTED), (0, STARTED), (0, ENDED), (1, REQUEUED), (1, STARTED)]
