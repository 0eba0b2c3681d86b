"""Acts on JobSets, Volcano Jobs, PyTorchJobs, and on what Kueue admitted. An API server and the controllers are played in memory."""

import copy
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

pytest.importorskip("kubernetes")

from records import Action, Decision, DecisionResult, Mode, Outcome
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.actuators import ActuatorError
from scheduler_bridge.actuators import SchedulerJobState as State
from scheduler_bridge.actuators.kubernetes import KubernetesActuator, KubernetesLimits
from scheduler_bridge.bundle import Bundles
from scheduler_clients.kubernetes import (
    Job,
    KubernetesClient,
    KubernetesConflict,
    KubernetesNotFound,
    KubernetesRefused,
    Node,
    Pod,
    QueuedWorkload,
    kind_named,
)
from tests.scheduler_bridge.findings import NOW, Written

EVICT, CANCEL, HOLD, RELEASE, RESTART = (
    f"{act}/{'0' * 15}1" for act in ("evict", "cancel", "hold", "release", "restart")
)
TEMPLATE = {
    "metadata": {},
    "spec": {"containers": [{"name": "train", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]},
}
GANG = {"replicas": 2, "template": TEMPLATE}
SPECS: Mapping[str, Any] = {
    "": {"parallelism": 2, "backoffLimit": 0, "template": TEMPLATE},
    "jobset": {"replicatedJobs": [{"name": "w", "template": {"spec": {"parallelism": 2, "template": TEMPLATE}}}]},
    "pytorchjob": {"runPolicy": {}, "pytorchReplicaSpecs": {"Worker": GANG}},
    "vcjob": {"maxRetry": 3, "tasks": [{"name": "w", **GANG}]},
}
OWN = ("jobset", "pytorchjob", "vcjob")


class Cluster:
    """The objects of one namespace. What the controllers would do is done when pods are asked for: each stops, or starts, two of them."""

    def __init__(self, word: str, *, queued: bool = False, waits: bool = False) -> None:
        self.word, self.waits = word, waits
        self.objects: dict[tuple[str, str], dict[str, Any]] = {}
        self.pods_now = 0
        self.budget = False
        self.told: list[str] = []
        self.dead = False
        labels = {"kueue.x-k8s.io/queue-name": "q"} if queued else {}
        self.put(word, "train", copy.deepcopy(SPECS[word]), labels=labels)
        if queued:
            by = {"kind": "any", "name": "train", "uid": "u-train", "controller": True}
            self.put("workload", "w", {"active": True, "priority": 7}, ownerReferences=[by])
        self.reconcile()

    def put(self, word: str, name: str, spec: Any, **meta: Any) -> None:
        body = {"metadata": {"name": name, "namespace": "a", "uid": f"u-{name}", "annotations": {}, **meta}}
        self.objects[word, name] = {**body, "spec": spec, "status": {}}

    @property
    def train(self) -> dict[str, Any]:
        return self.objects[self.word, "train"]

    def reconcile(self) -> None:
        """Do what the controllers do."""
        if self.dead:
            return
        queued, spec = self.objects.get(("workload", "w")), self.train["spec"]
        holder = spec.setdefault("runPolicy", {}) if self.word == "pytorchjob" else spec
        if queued:  # Kueue
            holder["suspend"] = not queued["spec"]["active"]
        stopped = holder.get("suspend", False)
        if self.word == "vcjob":
            state = self.train["status"].setdefault("state", {"phase": "Running"})
            for name in [name for kind, name in self.objects if kind == "commands"]:
                action = self.objects.pop(("commands", name))["action"]
                state["phase"] = {"AbortJob": "Aborted", "ResumeJob": "Running", "TerminateJob": "Terminated"}[action]
                self.train["status"]["retryCount"] = self.train["status"].get("retryCount", 0) + (action == "ResumeJob")
            stopped = state["phase"] != "Running"
        self.pods_now = 0 if stopped else 2

    # What the actuator asks for.

    def _kind(self, kind: type[Any]) -> str:
        return "workload" if kind is QueuedWorkload else str(getattr(kind, "WORD", ""))

    def job(self, namespace: str, name: str) -> Job:
        return cast(Job, self.workload(Job, namespace, name))

    def workload(self, kind: type[Any], namespace: str, name: str) -> Any:
        return msgspec.convert(self.raw_workload(kind, namespace, name), kind)

    def raw_workload(self, kind: type[Any], namespace: str, name: str) -> dict[str, Any]:
        try:
            return copy.deepcopy(self.objects[self._kind(kind), name])
        except KeyError:
            raise KubernetesNotFound("an object", name, "nothing was done") from None

    def raw_job(self, namespace: str, name: str) -> dict[str, Any]:
        return self.raw_workload(Job, namespace, name)

    def jobs(self, namespace: str, selector: str) -> list[Job]:
        return self.workloads(Job, namespace, selector)

    def workloads(self, kind: type[Any], namespace: str, selector: str) -> list[Any]:
        label, _, value = selector.partition("=")
        found = [body for (word, _), body in self.objects.items() if word == self._kind(kind)]
        mine = (
            found
            if kind is QueuedWorkload
            else [body for body in found if body["metadata"].get("labels", {}).get(label) == value]
        )
        return [msgspec.convert(body, kind) for body in mine]

    def pods(self, namespace: str, selector: str) -> list[Pod]:
        self.reconcile()
        where = {} if self.waits else {"nodeName": "n1"}
        phase = "Pending" if self.waits else "Running"
        name = selector.partition("=")[2]
        return [
            msgspec.convert(
                {"metadata": {"name": f"{name}-{index}", "uid": str(index)}, "spec": where, "status": {"phase": phase}},
                Pod,
            )
            for index in range(self.pods_now)
        ]

    def raw_node(self, name: str) -> dict[str, Any]:
        ready = {"nodeInfo": {"bootID": "b"}, "conditions": [{"type": "Ready", "status": "True"}]}
        return self.objects.setdefault(("node", name), {"metadata": {"name": name}, "status": ready})

    def patch_node(self, node: Node, patch: Mapping[str, Any]) -> None:
        merge(self.raw_node(node.metadata.name), patch)

    def node(self, name: str) -> Node:
        return msgspec.convert(self.raw_node(name), Node)

    def nodes(self) -> list[Node]:
        return [self.node(name) for name in ("n1", "n2", "n3")]

    def pods_on(self, node: str) -> list[Pod]:
        return self.pods("a", "job=train")

    def evict(self, pod: Pod, *, dry_run: bool = False) -> None:
        assert dry_run, "pods of a job that is stopped by its controller are not evicted one by one"
        if self.budget:
            raise KubernetesRefused("an eviction", "429 disruption budget", "nothing was done")

    def patch_job(self, job: Job, patch: Mapping[str, Any]) -> Job:
        return cast(Job, self.patch_workload(job, patch))

    def patch_workload(self, one: Any, patch: Mapping[str, Any]) -> Any:
        kept = self.objects[self._kind(type(one)), one.metadata.name]
        merge(kept, patch)
        return msgspec.convert(kept, type(one))

    def create_job(self, namespace: str, body: dict[str, Any]) -> None:
        self.create_custom("", body)

    def create_custom(self, plural: str, body: Mapping[str, Any]) -> None:
        word = "commands" if plural == "commands" else self.word
        key = word, body["metadata"]["name"]
        if key in self.objects:
            raise KubernetesConflict("an object", "409", "nothing was done")
        made = copy.deepcopy(dict(body))
        made["metadata"]["uid"] = f"u-{key[1]}"
        self.objects[key] = {**made, "status": {}}

    def delete_custom(self, plural: str, body: Mapping[str, Any]) -> None:
        if self.objects.pop((plural, body["metadata"]["name"]), None) is None:
            raise KubernetesNotFound("an object", "404", "nothing was done")

    def tell(self, about: Any, reason: str, note: str) -> None:
        self.told.append(reason)


def merge(into: dict[str, Any], patch: Mapping[str, Any]) -> None:
    """Apply a merge patch (RFC 7396)."""
    for name, value in patch.items():
        if value is None:
            into.pop(name, None)
        elif isinstance(value, Mapping):
            merge(into.setdefault(name, {}), value)
        else:
            into[name] = value


def actuator(cluster: Cluster) -> KubernetesActuator:
    ticks = itertools.count()
    limits = KubernetesLimits(stop_timeout=20, settle=3)
    return KubernetesActuator(cast(KubernetesClient, cluster), limits, lambda: float(next(ticks)), lambda _: None)


def name(word: str) -> str:
    return "/".join(filter(None, ("a", word, "train")))


def suspended(cluster: Cluster) -> bool:
    spec = cluster.train["spec"]
    return bool((spec["runPolicy"] if cluster.word == "pytorchjob" else spec).get("suspend", False))


@pytest.mark.parametrize(
    ("word", "queued"), [*((word, False) for word in OWN), ("", True), ("jobset", True), ("pytorchjob", True)]
)
def test_an_evicted_job_comes_back_in_its_next_attempt(word: str, queued: bool) -> None:
    cluster = Cluster(word, queued=queued)
    seen = actuator(cluster).evict(name(word), EVICT)
    assert (seen.state, seen.attempt, seen.acts, seen.interrupted) == (State.RUNNING, 1, (EVICT,), False)
    assert "schedmate.io/stopped-for" not in cluster.train["metadata"]["annotations"]
    assert cluster.told == ["SchedMateEvict"]
    if queued:
        assert (seen.partition, seen.priority) == ("q", 7)


@pytest.mark.parametrize("word", OWN)
def test_an_eviction_that_was_cut_off_is_gone_on_with(word: str) -> None:
    cluster = Cluster(word)
    cluster.waits = False
    act = actuator(cluster)
    fails = cluster.patch_workload
    patches = itertools.count()

    def cut_off(one: Any, patch: Mapping[str, Any]) -> Any:
        if next(patches) == 1:  # what lets it go
            raise ConnectionAbortedError
        return fails(one, patch)

    cluster.patch_workload = cut_off  # type: ignore[method-assign]
    with pytest.raises(ConnectionAbortedError):
        act.evict(name(word), EVICT)
    held = act.job(name(word))
    assert held
    assert (held.state, held.interrupted, held.attempt) == (State.HELD, True, 1)
    cluster.patch_workload = fails  # type: ignore[method-assign]
    seen = act.evict(name(word), EVICT)
    assert (seen.state, seen.attempt, seen.acts) == (State.RUNNING, 1, (EVICT,))
    with pytest.raises(ActuatorError, match="a job that is running"):
        actuator(Cluster(word, waits=True)).evict(name(word), EVICT)


@pytest.mark.parametrize("cut_off", [False, True])
def test_a_grace_period_of_others_is_the_pods_own(cut_off: bool) -> None:
    cluster, written = Cluster("jobset"), Written()
    settings = BridgeSettings(modes={Action.EVICT: Mode.ACT})
    bridge = Bridge(actuator(cluster), settings, written, lambda: NOW)
    evict = Decision(
        id="evict/1", action=Action.EVICT, job="a/jobset/train", grace_s=60, time=NOW, expires=NOW + 60, mode=Mode.ACT, policy="", reason=""
    )  # fmt: skip
    if cut_off:
        began = DecisionResult(
            id="evict/1/started", decision_id="evict/1", action=Action.EVICT, job=evict.job, time=NOW, outcome=Outcome.STARTED
        )  # fmt: skip
        bridge.remember(evict)
        bridge.remember(began)
    else:
        bridge.accept(evict)
    bridge.advance()
    assert written.outcomes[-1:] == [Outcome.DONE], written.results
    assert written.results[-1].seen["attempt"] == "1"


@pytest.mark.parametrize("word", OWN)
def test_a_disruption_budget_leaves_a_job_alone(word: str) -> None:
    cluster = Cluster(word)
    cluster.budget, before = True, copy.deepcopy(cluster.train)
    with pytest.raises(ActuatorError, match="disruption budget"):
        actuator(cluster).evict(name(word), EVICT)
    assert cluster.train == before


@pytest.mark.parametrize(("word", "queued"), [*((word, False) for word in OWN), ("", True), ("jobset", True)])
def test_a_cancelled_job_stays_stopped(word: str, queued: bool) -> None:
    cluster = Cluster(word, queued=queued)
    seen = actuator(cluster).cancel(name(word), CANCEL)
    assert (seen.state, seen.attempt, seen.acts) == (State.CANCELLED, 0, (CANCEL,))
    assert cluster.pods_now == 0


@pytest.mark.parametrize(("word", "queued"), [*((word, False) for word in OWN), ("jobset", True)])
def test_a_waiting_job_is_held_and_released(word: str, queued: bool) -> None:
    cluster = Cluster(word, queued=queued, waits=True)
    act = actuator(cluster)
    assert act.hold(name(word), HOLD).state is State.HELD
    released = act.release(name(word), RELEASE)
    assert (released.state, released.acts) == (State.PENDING, (HOLD, RELEASE))


@pytest.mark.parametrize("word", ["", "jobset", "pytorchjob"])
def test_what_kueue_suspended_is_never_resumed_by_the_bridge(word: str) -> None:
    cluster = Cluster(word, queued=True, waits=True)
    act = actuator(cluster)
    act.hold(name(word), HOLD)
    cluster.dead = True  # Kueue has no quota for it
    assert act.release(name(word), RELEASE).state is State.PENDING
    assert suspended(cluster)
    assert cluster.objects["workload", "w"]["spec"]["active"]


@pytest.mark.parametrize("word", OWN)
def test_a_failed_job_restarts_elsewhere_as_a_new_object(word: str) -> None:
    cluster = Cluster(word)
    ended = (
        {"state": {"phase": "Failed"}} if word == "vcjob" else {"conditions": [{"type": "Failed", "status": "True"}]}
    )
    cluster.train["status"], cluster.dead, cluster.pods_now = ended, True, 0
    seen = actuator(cluster).restart(name(word), ("n2",), RESTART, "/ckpt/step-40")
    made = cluster.objects[word, "train-r1"]
    assert (seen.attempt, seen.excluded, seen.acts) == (1, ("n2",), (RESTART,))
    kind = kind_named(word)
    assert kind
    assert (made["apiVersion"], made["kind"]) == (kind.API_VERSION, kind.KIND)
    for template in kind.pod_templates(made):
        assert template["metadata"]["labels"] == {"schedmate.io/attempt": "1", "schedmate.io/lineage": "train"}
        assert template["spec"]["containers"][0]["env"][0]["value"] == "/ckpt/step-40"
    with pytest.raises(ActuatorError, match="a job that is failed"):
        actuator(cluster).restart(name(word), ("n2",), RESTART)


def test_what_is_made_for_a_queue_of_kueue_waits_until_kueue_admits_it() -> None:
    cluster = Cluster("pytorchjob", queued=True)
    cluster.train["spec"]["runPolicy"]["cleanPodPolicy"] = "All"
    cluster.train["status"] = {"conditions": [{"type": "Failed", "status": "True"}]}
    cluster.dead, cluster.pods_now = True, 0
    actuator(cluster).restart("a/pytorchjob/train", (), RESTART)
    made = cluster.objects["pytorchjob", "train-r1"]
    assert made["spec"]["runPolicy"] == {"cleanPodPolicy": "All", "suspend": True}
    assert made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "q"


def test_a_job_of_a_known_kind_is_refused_with_the_id_to_name() -> None:
    cluster = Cluster("")
    owner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "big", "uid": "x", "controller": True}
    cluster.train["metadata"]["ownerReferences"] = [owner]
    with pytest.raises(ActuatorError, match=r"JobSet/big.*name the job a/jobset/big"):
        actuator(cluster).evict("a/train", EVICT)


def test_a_jobset_of_an_unknown_owner_is_refused_with_its_name() -> None:
    cluster = Cluster("jobset")
    owner = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "name": "big",
        "uid": "x",
        "controller": True,
    }
    cluster.train["metadata"]["ownerReferences"] = [owner]
    with pytest.raises(ActuatorError, match="TrainJob/big"):
        actuator(cluster).evict("a/jobset/train", EVICT)


def test_a_volcano_job_that_would_be_given_up_is_left_alone() -> None:
    cluster = Cluster("vcjob")
    cluster.train["status"]["retryCount"] = 2
    with pytest.raises(ActuatorError, match="maxRetry"):
        actuator(cluster).evict("a/vcjob/train", EVICT)
    assert cluster.pods_now == 2


@pytest.mark.parametrize("what", ["evict", "cancel", "hold", "release"])
def test_an_order_that_volcano_does_not_take_in_time_is_withdrawn(what: str) -> None:
    cluster = Cluster("vcjob", waits=what in ("hold", "release"))
    act = actuator(cluster)
    if what == "release":
        act.hold("a/vcjob/train", HOLD)
    cluster.dead, before = True, copy.deepcopy(cluster.train)
    with pytest.raises(ActuatorError, match="withdrawn"):
        getattr(act, what)("a/vcjob/train", f"{what}/{'0' * 16}")
    assert cluster.train == before
    assert ("vcjob", "train") in cluster.objects
    assert not [name for kind, name in cluster.objects if kind == "commands"]


@pytest.mark.parametrize(("word", "queued"), [("jobset", False), ("pytorchjob", False), ("", True), ("jobset", True)])
def test_a_cancelled_job_that_a_person_resumes_is_in_its_next_attempt(word: str, queued: bool) -> None:
    cluster = Cluster(word, queued=queued)
    act = actuator(cluster)
    act.cancel(name(word), CANCEL)
    if queued:
        cluster.objects["workload", "w"]["spec"]["active"] = True
    else:
        (cluster.train["spec"]["runPolicy"] if word == "pytorchjob" else cluster.train["spec"])["suspend"] = False
    cluster.reconcile()
    seen = act.job(name(word))
    assert seen
    assert (seen.state, seen.attempt, seen.interrupted) == (State.RUNNING, 1, False)
    again = act.evict(name(word), EVICT)
    assert (again.state, again.attempt, again.acts) == (State.RUNNING, 2, (CANCEL, EVICT))


def test_a_resumed_job_that_fails_has_failed() -> None:
    cluster = Cluster("jobset")
    act = actuator(cluster)
    act.cancel("a/jobset/train", CANCEL)
    cluster.train["spec"]["suspend"] = False
    cluster.train["status"] = {"conditions": [{"type": "Failed", "status": "True"}]}
    seen = act.job("a/jobset/train")
    assert seen
    assert (seen.state, seen.attempt) == (State.FAILED, 1)
    cluster.dead, cluster.pods_now = True, 0
    assert act.restart("a/jobset/train", (), RESTART).attempt == 2


def test_what_kubernetes_shows_of_a_node_is_kept_before_it_is_drained(tmp_path: Path) -> None:
    written = Written()
    settings = BridgeSettings(modes={Action.DRAIN: Mode.ACT})
    bridge = Bridge(actuator(Cluster("")), settings, written, lambda: NOW, bundles=Bundles(tmp_path))
    drain = Decision(
        id="d", action=Action.DRAIN, job="", node="n1", node_evidence=True, time=NOW, expires=NOW + 60, mode=Mode.ACT, policy="", reason=""
    )  # fmt: skip
    bridge.accept(drain)
    bridge.advance()
    assert written.outcomes == [Outcome.STARTED]
    (bundle,) = tmp_path.iterdir()
    shown = (bundle / "scheduler.txt").read_text()
    assert '"bootID": "b"' in shown
    assert "unschedulable" not in shown, "it is as it was before"
    assert shown.splitlines()[-2:] == ["/train-0 Running", "/train-1 Running"]
