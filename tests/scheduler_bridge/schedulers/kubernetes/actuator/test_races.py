"""What people, Jobs and Kubernetes do in the same moment as the bridge, on a real control plane whose API server is restarted meanwhile.

Each race is one decision and one interference at a random time around the act. What Kubernetes shows afterwards and what the bridge
says of it must agree.
"""

import queue
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from schedmate_records import Action, Decision, DecisionResult, Mode, Outcome
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.act_keys import act_key, read_keys
from scheduler_bridge.schedulers import SchedulerAway, SchedulerJobState
from tests.scheduler_bridge.findings import Written
from tests.servers import races
from tests.servers.kubernetes import NODES, Kubernetes, running

pytest.importorskip("kubernetes")

from scheduler_bridge.schedulers.kubernetes.actuator import KubernetesActuator, KubernetesLimits
from scheduler_bridge.schedulers.kubernetes.client.client import KubernetesClient

pytestmark = [pytest.mark.kubernetes, pytest.mark.slow, pytest.mark.timeout(7200)]

RACES = races(48)
LANES = 3
SERVER_S = 20.0
"""Seconds between two restarts of the API server."""
WITHIN_S = 240.0
MERGE = "application/merge-patch+json"
OPTIONS = BridgeSettings(
    scheduler="kubernetes", modes=dict.fromkeys(Action, Mode.ACT), actions_per_hour=10**6, actions_per_node_hour=10**6, user_share=1.0,
    max_drained_share=1.0, min_nodes_left=0, node_cooldown_seconds=0,
)  # fmt: skip
IGNORE = {
    "podFailurePolicy": {
        "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
    }
}
HOW = {
    Action.RESTART: ("delete", "twice"),
    Action.EVICT: ("end", "delete", "suspend", "lose"),
    Action.CANCEL: ("end", "delete", "suspend", "lose"),
    Action.HOLD: ("delete", "suspend", "place"),
    Action.DRAIN: ("cordon", "uncordon", "twice"),
}
"""What happens beside an act: a Job ends, is deleted or suspended by its user, loses its pods or finds a place; a node is (un)cordoned by a
person; another bridge decides the same."""


@dataclass
class Race:
    """One decision about a Job or a node of its own."""

    cluster: Kubernetes
    space: str
    name: str
    act: Action
    how: str
    node: str = ""

    @property
    def job(self) -> str:
        return "" if self.node else f"{self.space}/{self.name}"

    @property
    def path(self) -> str:
        if self.node:
            return f"/api/v1/nodes/{self.node}"
        return f"/apis/batch/v1/namespaces/{self.space}/jobs/{self.name}"

    def actuator(self) -> KubernetesActuator:
        client = KubernetesClient.connect(self.cluster.kubeconfig("bridge"))
        return KubernetesActuator(client, KubernetesLimits(stop_timeout=60, settle=3))

    def prepare(self) -> None:
        """Bring the Job into the state that the act is for."""
        if self.node:
            return
        template = {"template": {"nodeSelector": {self.name: "yes"}}} if self.act is Action.HOLD else {}
        self.cluster.submit(self.space, self.name, gpus=1, **IGNORE, **template)
        if self.act is Action.HOLD:
            self.cluster.until(lambda: len(self.cluster.pods(self.job)) == 1, f"{self.job} waits")
            return
        self.cluster.wait_running(self.job)
        if self.act is Action.RESTART:
            self.cluster.end(self.job, 1)
            actuator = self.actuator()

            def failed() -> bool:
                seen = actuator.job(self.job)
                return bool(seen and seen.state is SchedulerJobState.FAILED)

            self.cluster.until(_asked(failed), f"{self.job} has failed")

    def decision(self) -> Decision:
        now = time.time()
        return Decision(
            id=f"{self.act}/{uuid.uuid4().hex}", action=self.act, job=self.job, node=self.node, node_evidence=bool(self.node),
            time=now, expires=now + 600, mode=Mode.ACT, policy="p", reason="r",
        )  # fmt: skip

    def carry_out(self, decision: Decision) -> DecisionResult | None:
        """Let a bridge bring a decision to its end; None where it never does."""
        written = Written()
        bridge = Bridge(self.actuator(), OPTIONS, written)
        bridge.accept(decision)
        until = time.monotonic() + WITHIN_S
        while bridge.open_decisions and time.monotonic() < until:
            bridge.advance()
            time.sleep(0.02)
        return next((result for result in written.results if result.outcome.final), None)

    def disturb(self) -> None:
        """Do what happens beside the act; `twice` is another bridge's."""
        patch = {
            "suspend": {"spec": {"suspend": True}},
            "cordon": {"spec": {"unschedulable": True}},
            "uncordon": {"spec": {"unschedulable": None}},
        }.get(self.how)
        if patch:
            self.cluster.api("PATCH", self.path, patch, kind=MERGE, check=False)
        elif self.how == "delete":
            self.cluster.delete(self.path)
        elif self.how == "end":
            self.cluster.end(self.job, 0)
        elif self.how == "place":
            self._label(NODES[0], "yes")
        elif self.how == "lose":
            for pod in self.cluster.pods(self.job):
                where = f"/api/v1/namespaces/{self.space}/pods/{pod['metadata']['name']}"
                self.cluster.api("DELETE", where, {"gracePeriodSeconds": 0}, check=False)

    def clean(self) -> None:
        """Leave nothing behind."""
        if self.node:
            notes = {"metadata": {"annotations": {"schedmate.io/drained-by": None}}}
            free = {"spec": {"unschedulable": None, "taints": None}}
            self.cluster.api("PATCH", self.path, {**notes, **free}, kind=MERGE)
            return
        for name in (self.name, f"{self.name}-r1"):
            self.cluster.delete(self.path.replace(self.name, name))
        if self.how == "place":
            self._label(NODES[0], None)

    def wrong(self, found: list[tuple[Decision, DecisionResult | None]]) -> str:
        """Return what must not be; empty for nothing."""
        outcomes = [result.outcome if result else None for _, result in found]
        seen = self.cluster.api("GET", self.path)
        keys = _keys(seen) if seen else ()
        done = [act_key(decision) for decision, result in found if result and result.outcome is Outcome.DONE]
        refused = [act_key(decision) for decision, result in found if result and result.outcome is Outcome.REFUSED]
        rules = {
            "never concluded": None in outcomes,
            "done by both": len(done) > 1,
            "refused, and the bridge's key is there": bool({*refused} & {*keys}),
        } | (self._node_rules(seen, keys, done) if self.node else self._job_rules(seen, keys, done, outcomes))
        return next((rule for rule, broken in rules.items() if broken), "")

    def _node_rules(self, node: Any, keys: tuple[str, ...], done: list[str]) -> dict[str, bool]:
        noted = node["metadata"].get("annotations", {}).get("schedmate.io/drained-by", "")
        ours = [taint for taint in node["spec"].get("taints", []) if taint["key"] == "schedmate.io/drained"]
        out = node["spec"].get("unschedulable", False)
        return {
            "done, and the bridge's key is not there": not {*done} <= {*keys},
            "done, and the node takes pods": bool(done) and not out and self.how != "uncordon",
            "drained for another than the one that says so": bool(done) and done[0] not in noted,
            "a taint without its reason, or the other way round": bool(ours) != bool(noted),
            "not done, and drained": bool(ours) and not done and self.how != "uncordon",
        }

    def _job_rules(
        self, job: Any, keys: tuple[str, ...], done: list[str], outcomes: list[Outcome | None]
    ) -> dict[str, bool]:
        next_one = self.cluster.api("GET", self.path + "-r1")
        third = self.cluster.api("GET", self.path + "-r2")
        not_done = all(outcome in (Outcome.REFUSED, Outcome.FAILED) for outcome in outcomes)
        keys = _keys(next_one) if next_one else keys
        attempt = job["metadata"].get("annotations", {}).get("schedmate.io/attempt", "0") if job else "0"
        suspended = bool(job and job["spec"].get("suspend"))
        ended = [one.get("reason") for one in (job or {}).get("status", {}).get("conditions", [])]
        return {
            "started again without its being asked for": bool(next_one) and self.act is not Action.RESTART,
            "started again too often": bool(third),
            "restarted, and there is no Job": self.act is Action.RESTART and bool(done) and not next_one,
            "not done, as was said, and started again": not_done and bool(next_one),
            "more than one act": len(keys) > 1,
            "done, and the bridge's key is not there": bool(done and (job or next_one)) and not {*done} <= {*keys},
            "evicted, and in no other attempt": self.act is Action.EVICT and bool(done and job) and attempt != "1",
            "not evicted, and in another attempt": not done and attempt != "0" and Outcome.UNVERIFIED not in outcomes,
            "held, and it may run": self.act is Action.HOLD and bool(done and job) and not suspended,
            "not held, and suspended": self.act is Action.HOLD and not_done and suspended and self.how != "suspend",
            "not cancelled, and ended by the bridge": not_done and "DeadlineExceeded" in ended,
        }

    def _label(self, node: str, value: str | None) -> None:
        self.cluster.api("PATCH", f"/api/v1/nodes/{node}", {"metadata": {"labels": {self.name: value}}}, kind=MERGE)


def _keys(found: Any) -> tuple[str, ...]:
    return read_keys(found["metadata"].get("annotations", {}).get("schedmate.io/acts", ""))


def _asked(ask: Callable[[], bool]) -> Callable[[], bool]:
    """Take no answer for no."""

    def asked() -> bool:
        try:
            return ask()
        except SchedulerAway:
            return False

    return asked


@contextmanager
def restarting(cluster: Kubernetes) -> Iterator[list[float]]:
    """Restart the API server every so many seconds, and yield when that was done."""
    over, times = threading.Event(), list[float]()

    def restart() -> None:
        while not over.wait(SERVER_S):
            cluster.restart_server()
            times.append(time.time())

    thread = threading.Thread(target=restart)
    thread.start()
    try:
        yield times
    finally:
        over.set()
        thread.join()


def test_races_end_in_no_wrong_act(record_property: Callable[[str, object], None]) -> None:
    kinds = [(act, how) for act, hows in HOW.items() for how in hows]
    chances = [random.Random(700_000 + number) for number in range(RACES)]
    nodes: queue.Queue[str] = queue.Queue()
    came: Counter[str] = Counter()
    wrong: list[str] = []
    for node in NODES[1:]:  # one always takes pods
        nodes.put(node)

    def race(number: int) -> None:
        act, how = kinds[number % len(kinds)]
        one = Race(cluster, space, f"race-{number}", act, how, nodes.get() if act is Action.DRAIN else "")
        one.prepare()
        first, second = one.decision(), one.decision()
        found: list[tuple[Decision, DecisionResult | None]] = []

        def other() -> None:
            if how == "twice":
                found.append((second, one.carry_out(second)))
            else:
                one.disturb()

        beside = threading.Timer(chances[number].uniform(0.0, 0.3), other)
        beside.start()
        found.append((first, one.carry_out(first)))
        beside.join()
        if rule := one.wrong(found):
            wrong.append(f"race {number}, {act} {how}: {rule}: {found}")
            print(wrong[-1], flush=True)
        one.clean()
        if one.node:
            nodes.put(one.node)
        came[f"{act} {how}: {', '.join(sorted(result.outcome if result else 'open' for _, result in found))}"] += 1

    with running() as cluster:
        space = cluster.namespace("races")
        with restarting(cluster) as times, ThreadPoolExecutor(LANES) as lanes:
            list(lanes.map(race, range(RACES)))
    record_property("races", dict(came))
    print(f"{came.total()} races, {len(times)} restarts of the API server, {len(wrong)} wrong")
    print("\n".join(f"{number:3d} {what}" for what, number in sorted(came.items())))
    assert not wrong
