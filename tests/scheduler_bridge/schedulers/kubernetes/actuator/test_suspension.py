"""Acts on JobSets, Volcano Jobs, PyTorchJobs, and on what Kueue admitted. An API server and the controllers are played in memory."""

import copy
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

pytest.importorskip("kubernetes")

from schedmate_records import Action, Decision, DecisionResult, Mode, Outcome
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.bundle import Bundles
from scheduler_bridge.schedulers import ActuatorError
from scheduler_bridge.schedulers import SchedulerJobState as State
from scheduler_bridge.schedulers.kubernetes.actuator import KubernetesActuator, KubernetesLimits
from scheduler_bridge.schedulers.kubernetes.client.client import KubernetesClient
from scheduler_bridge.schedulers.kubernetes.client.workloads.kinds import kind_named
from tests.scheduler_bridge.findings import NOW, Written
from tests.scheduler_bridge.schedulers.kubernetes.fake_kubernetes import FakeCluster

EVICT, CANCEL, HOLD, RELEASE, RESTART = (
    f"{act}/{'0' * 15}1" for act in ("evict", "cancel", "hold", "release", "restart")
)
OWN = ("jobset", "pytorchjob", "vcjob")


def actuator(cluster: FakeCluster) -> KubernetesActuator:
    ticks = itertools.count()
    limits = KubernetesLimits(stop_timeout=20, settle=3)
    return KubernetesActuator(cast(KubernetesClient, cluster), limits, lambda: float(next(ticks)), lambda _: None)


def name(word: str) -> str:
    return "/".join(filter(None, ("a", word, "train")))


def suspended(cluster: FakeCluster) -> bool:
    spec = cluster.train["spec"]
    return bool((spec["runPolicy"] if cluster.word == "pytorchjob" else spec).get("suspend", False))


@pytest.mark.parametrize(
    ("word", "queued"), [*((word, False) for word in OWN), ("", True), ("jobset", True), ("pytorchjob", True)]
)
def test_an_evicted_job_comes_back_in_its_next_attempt(word: str, queued: bool) -> None:
    cluster = FakeCluster(word, queued=queued)
    seen = actuator(cluster).evict(name(word), EVICT)
    assert (seen.state, seen.attempt, seen.acts, seen.interrupted) == (State.RUNNING, 1, (EVICT,), False)
    assert "schedmate.io/stopped-for" not in cluster.train["metadata"]["annotations"]
    assert cluster.told == ["SchedMateEvict"]
    if queued:
        assert (seen.partition, seen.priority) == ("q", 7)


@pytest.mark.parametrize("word", OWN)
def test_an_eviction_that_was_cut_off_is_gone_on_with(word: str) -> None:
    cluster = FakeCluster(word)
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
        actuator(FakeCluster(word, waits=True)).evict(name(word), EVICT)


@pytest.mark.parametrize("cut_off", [False, True])
def test_a_grace_period_of_others_is_the_pods_own(cut_off: bool) -> None:
    cluster, written = FakeCluster("jobset"), Written()
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
    cluster = FakeCluster(word)
    cluster.budget, before = True, copy.deepcopy(cluster.train)
    with pytest.raises(ActuatorError, match="disruption budget"):
        actuator(cluster).evict(name(word), EVICT)
    assert cluster.train == before


@pytest.mark.parametrize(("word", "queued"), [*((word, False) for word in OWN), ("", True), ("jobset", True)])
def test_a_cancelled_job_stays_stopped(word: str, queued: bool) -> None:
    cluster = FakeCluster(word, queued=queued)
    seen = actuator(cluster).cancel(name(word), CANCEL)
    assert (seen.state, seen.attempt, seen.acts) == (State.CANCELLED, 0, (CANCEL,))
    assert cluster.pods_now == 0


@pytest.mark.parametrize(("word", "queued"), [*((word, False) for word in OWN), ("jobset", True)])
def test_a_waiting_job_is_held_and_released(word: str, queued: bool) -> None:
    cluster = FakeCluster(word, queued=queued, waits=True)
    act = actuator(cluster)
    assert act.hold(name(word), HOLD).state is State.HELD
    released = act.release(name(word), RELEASE)
    assert (released.state, released.acts) == (State.PENDING, (HOLD, RELEASE))


@pytest.mark.parametrize("word", ["", "jobset", "pytorchjob"])
def test_what_kueue_suspended_is_never_resumed_by_the_bridge(word: str) -> None:
    cluster = FakeCluster(word, queued=True, waits=True)
    act = actuator(cluster)
    act.hold(name(word), HOLD)
    cluster.dead = True  # Kueue has no quota for it
    assert act.release(name(word), RELEASE).state is State.PENDING
    assert suspended(cluster)
    assert cluster.objects["workload", "w"]["spec"]["active"]


@pytest.mark.parametrize("word", OWN)
def test_a_failed_job_restarts_elsewhere_as_a_new_object(word: str) -> None:
    cluster = FakeCluster(word)
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
    cluster = FakeCluster("pytorchjob", queued=True)
    cluster.train["spec"]["runPolicy"]["cleanPodPolicy"] = "All"
    cluster.train["status"] = {"conditions": [{"type": "Failed", "status": "True"}]}
    cluster.dead, cluster.pods_now = True, 0
    actuator(cluster).restart("a/pytorchjob/train", (), RESTART)
    made = cluster.objects["pytorchjob", "train-r1"]
    assert made["spec"]["runPolicy"] == {"cleanPodPolicy": "All", "suspend": True}
    assert made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "q"


def test_a_job_of_a_known_kind_is_refused_with_the_id_to_name() -> None:
    cluster = FakeCluster("")
    owner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "big", "uid": "x", "controller": True}
    cluster.train["metadata"]["ownerReferences"] = [owner]
    with pytest.raises(ActuatorError, match=r"JobSet/big.*name the job a/jobset/big"):
        actuator(cluster).evict("a/train", EVICT)


def test_a_jobset_of_an_unknown_owner_is_refused_with_its_name() -> None:
    cluster = FakeCluster("jobset")
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
    cluster = FakeCluster("vcjob")
    cluster.train["status"]["retryCount"] = 2
    with pytest.raises(ActuatorError, match="maxRetry"):
        actuator(cluster).evict("a/vcjob/train", EVICT)
    assert cluster.pods_now == 2


@pytest.mark.parametrize("what", ["evict", "cancel", "hold", "release"])
def test_an_order_that_volcano_does_not_take_in_time_is_withdrawn(what: str) -> None:
    cluster = FakeCluster("vcjob", waits=what in ("hold", "release"))
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
    cluster = FakeCluster(word, queued=queued)
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
    cluster = FakeCluster("jobset")
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
    bridge = Bridge(actuator(FakeCluster("")), settings, written, lambda: NOW, bundles=Bundles(tmp_path))
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
