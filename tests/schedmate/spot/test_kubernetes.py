"""Quotas from what Kubernetes shows: namespaces are organisations, priority classes tell spot jobs."""

import pytest

pytest.importorskip("kubernetes")

from schedmate.spot.quotas import Quotas
from schedmate.spot.settings import SpotSettings
from scheduler_bridge.schedulers.kubernetes.actuator.queue import queue_of
from scheduler_bridge.selectors import Selector
from scheduler_bridge.settings import BridgeSettings
from tests.scheduler_bridge.schedulers.kubernetes.kubernetes_objects import job, node, pod

SPOT = {"template": {"spec": {"priorityClassName": "spot"}}}
CLASSES = BridgeSettings(evictable=(Selector.parse("qos=spot"),), evict_for=(Selector.parse("qos=prod"),))
NOW = 2_000_000_000.0


def test_namespaces_are_organisations_and_priority_classes_tell_spot_jobs() -> None:
    jobs = [job("prod"), job("lent", **SPOT), job("more", namespace="b", **SPOT), job("next", namespace="b")]
    pods = [
        pod("prod", on="n1", gpus=6),
        pod("lent", on="n1", gpus=2, priorityClassName="spot"),
        pod("more", gpus=8, priorityClassName="spot"),
        pod("next", gpus=4),
    ]
    quotas = Quotas(SpotSettings(organisation="user"), CLASSES)
    quotas.look(queue_of(jobs, pods, [node("n1"), node("n2")], ()), NOW)
    quota = quotas.decide(NOW, lambda _: False)
    assert (quota.capacity, quota.idle, quota.spot_in_use, quota.spot_waiting) == (16, 8, 2, 8)
    # Of 16 GPUs `prod` has 6; what it has and `next` waits for is demand. 10 are left, and as many are idle or have spot jobs.
    assert [(each.organisation, each.in_use, each.waiting) for each in quota.organisations] == [
        ("a", 6, 0),
        ("b", 0, 4),
    ]
    assert quota.quota == 10
    assert quota.beyond == []
