"""What a watch says, taken in document by document; and the store on a real API server."""

import json
import threading
import uuid
from collections.abc import Iterator
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("kubernetes")

from scheduler_bridge.schedulers.kubernetes.client.client import KubernetesClient
from scheduler_bridge.schedulers.kubernetes.client.errors import KubernetesError, ResourceVersionExpired
from scheduler_bridge.schedulers.kubernetes.client.objects import Pod
from scheduler_bridge.schedulers.kubernetes.client.store import Informer
from tests.servers.kubernetes import Kubernetes


def document(kind: str, uid: str = "", version: str = "", **more: Any) -> bytes:
    return json.dumps({"type": kind, "object": {"metadata": {"uid": uid, "resourceVersion": version}, **more}}).encode()


class Expiring:
    """A cluster whose watch expires once, after a change that only the next list shows."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.stop = threading.Event()

    def list_all(self, kind: type[Pod], namespace: str, fields: str) -> tuple[list[Pod], str]:
        self.asked.append("list")
        return [], str(10 * len(self.asked))

    def watch(self, kind: type[Pod], version: str, namespace: str, fields: str) -> Iterator[bytes]:
        self.asked.append(version)
        if version == "10":
            yield document("BOOKMARK", version="15")
        elif version == "15":
            yield json.dumps({"type": "ERROR", "object": {"code": 410, "message": "too old"}}).encode()
        else:
            self.stop.set()


def test_a_watch_goes_on_from_its_bookmark_and_an_expired_one_lists_again() -> None:
    cluster = Expiring()
    store = Informer(cast(KubernetesClient, cluster), Pod, lambda: None)
    store.run(cluster.stop)
    assert cluster.asked == ["list", "10", "15", "list", "40"]
    assert store.lists == 2


class Changing:
    """A cluster of no objects at first, whose watch ends after some changes."""

    def __init__(self) -> None:
        self.stop = threading.Event()

    def list_all(self, kind: type[Pod], namespace: str, fields: str) -> tuple[list[Pod], str]:
        return [], "0"

    def watch(self, kind: type[Pod], version: str, namespace: str, fields: str) -> Iterator[bytes]:
        yield document("ADDED", "a", "1")
        yield document("MODIFIED", "a", "2", status={"phase": "Running"})
        yield document("ADDED", "b", "3")
        yield document("BOOKMARK", version="9")
        yield document("DELETED", "b", "10")
        yield b""
        self.stop.set()


def test_changes_are_taken_in() -> None:
    changed: list[int] = []
    cluster = Changing()
    store = Informer(cast(KubernetesClient, cluster), Pod, lambda: changed.append(1))
    store.run(cluster.stop)
    objects = store.objects()
    assert objects
    assert [(one.metadata.uid, one.status.phase) for one in objects] == [("a", "Running")]
    assert len(changed) == 5, "the list, and four changes"
    with pytest.raises(ResourceVersionExpired):
        store.apply(b'{"type": "ERROR", "object": {"code": 410}}')


@given(
    st.one_of(st.binary(max_size=60), st.sampled_from([b'{"type":"ADDED","object":{}}', b'{"type":1}', b"[]", b"{}"]))
)
def test_what_is_no_change_is_an_error_by_name(line: bytes) -> None:
    store = Informer(cast(KubernetesClient, None), Pod, lambda: None)
    try:
        store.apply(line)
    except KubernetesError:
        return
    assert not line.strip()


@pytest.mark.kubernetes
@pytest.mark.slow
def test_a_real_api_server_goes_down_and_comes_back(kubernetes: Kubernetes) -> None:
    space = kubernetes.namespace(f"t-{uuid.uuid4().hex[:8]}")
    stop = threading.Event()
    client = KubernetesClient.connect(kubernetes.kubeconfig("watcher"))
    store = Informer(client, Pod, lambda: None)
    thread = threading.Thread(target=store.run, args=(stop,), daemon=True)
    thread.start()

    def names() -> set[str]:
        return {
            pod.metadata.name.rpartition("-")[0] for pod in store.objects() or () if pod.metadata.namespace == space
        }

    kubernetes.submit(space, "one", gpus=1)
    kubernetes.until(lambda: names() == {"one"}, "the first pod is known")
    kubernetes.stop_server()
    kubernetes.until(lambda: store.error is not None, "the outage is known")
    kubernetes.start_server()
    kubernetes.until(lambda: kubernetes.api("GET", "/readyz", raw=True) == "ok", "the API server is back")
    kubernetes.submit(space, "two", gpus=1)
    kubernetes.until(lambda: names() == {"one", "two"}, "the second pod is known")
    stop.set()
    for name in ("one", "two"):
        kubernetes.delete(f"/apis/batch/v1/namespaces/{space}/jobs/{name}")
