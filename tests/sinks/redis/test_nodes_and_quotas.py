"""What Redis shows of nodes and clusters: the newest of each."""

from typing import Any

import pytest

from schedmate_records import Evidence, GpuProcess, GpuSample, NodeFinding, Quota, Record, Severity, decode
from sinks.redis.keys import Keys
from tests.sinks.made import T0

from .store import Store, store

__all__ = ["store"]

pytestmark = pytest.mark.redis


def shown(store: Store, key: str, kind: type[Record], field: str) -> list[Record]:
    """The records in the fields of a hash whose names begin with `field`, by name."""
    fields = sorted(store.client.hgetall(key).items())
    return [
        decode(kind, text.encode())
        for name, text in fields
        if name.startswith(field) and not name.endswith(("_at", ":at"))
    ]


def samples(store: Store) -> list[Record]:
    return shown(store, Keys(store.prefix).node("n1"), GpuSample, "gpu:")


def findings(store: Store) -> list[Record]:
    return shown(store, Keys(store.prefix).node("n1"), NodeFinding, "finding:")


def quotas(store: Store, cluster: str) -> list[Record]:
    return shown(store, Keys(store.prefix).cluster(cluster), Quota, "quota")


def test_nodes_show_the_newest_sample_of_each_gpu(store: Store) -> None:
    def sample(gpu: int, time: float, **fields: Any) -> GpuSample:
        return GpuSample(id=f"{gpu}/{time}", node="n1", gpu=gpu, time=T0 + time, **fields)

    newest = sample(0, 9, utilisation=97, xids=[79], processes=[GpuProcess(pid=4, job="7", rank=0)])
    store.update(sample(1, 2, utilisation=5), sample(0, 1, utilisation=1), newest, sample(0, 3, utilisation=3))
    store.update(sample(0, 4, utilisation=4))
    assert samples(store) == [newest, sample(1, 2, utilisation=5)]


def test_nodes_show_the_last_finding_of_each_signature(store: Store) -> None:
    def finding(signature: str, time: float, **fields: Any) -> NodeFinding:
        place = Evidence(topic="node-logs", partition=0, offset=int(time), line=1, text=f"{signature} at {time}")
        known: dict[str, Any] = {
            "severity": Severity.FATAL,
            "error_type": "infrastructure",
            "component": "gpu",
        } | fields
        return NodeFinding(
            id=f"{signature}/{time}", node="n1", time=T0 + time, signature=signature, place=place, **known
        )

    newest, other = finding("xid_nvlink", 9, job="7"), finding("oom_killer", 5)
    store.update(finding("xid_nvlink", 2), newest, other, finding("gpus_healthy", 20, severity=Severity.INFO))
    store.update(finding("xid_nvlink", 4))
    assert findings(store) == [other, newest]
    again = finding("xid_nvlink", 9, job="7", times=10)
    store.update(again)
    store.update(newest)
    assert findings(store) == [other, again]
    assert samples(store) == []


def test_of_each_cluster_the_newest_quota_is_shown(store: Store) -> None:
    def quota(cluster: str, time: float, gpus: float | None) -> Quota:
        return Quota(
            id=f"quota/{cluster}/{time:.0f}",
            cluster=cluster,
            time=time,
            until=time + 300,
            quota=gpus,
            safety=1.0,
            guarantee=0.9,
            guaranteed_h=1,
        )

    newest, other = quota("b", T0 + 600, None), quota("a", T0, 8.0)
    store.update(quota("b", T0 + 300, 4.0), newest, other)
    store.update(quota("b", T0, 2.0))
    assert (quotas(store, "a"), quotas(store, "b")) == ([other], [newest])
