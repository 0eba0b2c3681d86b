"""Errors of the API server, by name; pages of a list. A server on loopback answers as the API server does."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kubernetes")

from kubernetes import client as official

from scheduler_bridge.schedulers.kubernetes.client.client import KubernetesClient
from scheduler_bridge.schedulers.kubernetes.client.errors import (
    KubernetesConflict,
    KubernetesError,
    KubernetesForbidden,
    KubernetesNotFound,
    KubernetesRefused,
    KubernetesUnavailable,
    ResourceVersionExpired,
)
from scheduler_bridge.schedulers.kubernetes.client.workloads.batch_job import Job

Answer = Callable[[str], tuple[int, bytes]]


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], KubernetesClient]]:
    servers = []

    def start(answer: Answer) -> KubernetesClient:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, body = answer(self.path)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        configuration = official.Configuration()
        configuration.host = f"http://127.0.0.1:{server.server_port}"
        return KubernetesClient(official.ApiClient(configuration))

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def status(code: int, message: str, ready: int = 200) -> Answer:
    body = json.dumps({"kind": "Status", "code": code, "message": message}).encode()
    return lambda path: (ready, b"") if path == "/readyz" else (code, body)


@pytest.mark.parametrize(
    ("code", "message", "error"),
    [
        (401, "Unauthorized", KubernetesUnavailable),
        (403, 'jobs.batch is forbidden: User "x" cannot get', KubernetesForbidden),
        (404, "not found", KubernetesNotFound),
        (409, "the object has been modified", KubernetesConflict),
        (410, "too old resource version", ResourceVersionExpired),
        (422, "invalid", KubernetesRefused),
        (429, "Cannot evict pod as it would violate the pod's disruption budget.", KubernetesRefused),
        (429, "too many requests", KubernetesUnavailable),
        (500, "etcdserver: leader changed", KubernetesUnavailable),
    ],
)
def test_errors(
    serve: Callable[[Answer], KubernetesClient], code: int, message: str, error: type[KubernetesError]
) -> None:
    with pytest.raises(error) as raised:
        serve(status(code, message)).workload(Job, "a", "b")
    assert type(raised.value) is error
    assert message in str(raised.value)


@pytest.mark.parametrize("ready", [403, 500])
def test_a_server_that_is_not_ready_does_not_know_who_may_do_what(
    serve: Callable[[Answer], KubernetesClient], ready: int
) -> None:
    with pytest.raises(KubernetesUnavailable, match=r"403 jobs\.batch is forbidden.*once it is ready"):
        serve(status(403, "jobs.batch is forbidden", ready)).workload(Job, "a", "b")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"metadata": 1}', b'{"metadata": {"labels": {"a": 1}}}'])
def test_what_is_no_job_is_an_error_by_name(serve: Callable[[Answer], KubernetesClient], body: bytes) -> None:
    with pytest.raises(KubernetesRefused, match="an object of the Kubernetes API"):
        serve(lambda _: (200, body)).workload(Job, "a", "b")


def test_all_pages_of_a_list_are_read(serve: Callable[[Answer], KubernetesClient]) -> None:
    def answer(path: str) -> tuple[int, bytes]:
        last = "continue=next" in path
        meta = {"resourceVersion": "7", "continue": "" if last else "next"}
        items = [{"metadata": {"name": "b" if last else "a"}}]
        return 200, json.dumps({"metadata": meta, "items": items}).encode()

    jobs, version = serve(answer).list_all(Job)
    assert ([job.metadata.name for job in jobs], version) == (["a", "b"], "7")


def test_lines_of_a_watch_are_put_together(serve: Callable[[Answer], KubernetesClient]) -> None:
    lines = [b'{"type": "ADDED"}', b'{"type": "' + b"x" * 70_000 + b'"}']
    client = serve(lambda _: (200, b"\n".join(lines) + b"\n"))
    assert list(client.watch(Job, "1")) == lines


def test_nobody_answers() -> None:
    configuration = official.Configuration()
    configuration.host = "http://127.0.0.1:1"
    configuration.retries = False
    with pytest.raises(KubernetesUnavailable):
        KubernetesClient(official.ApiClient(configuration)).nodes()


def test_no_kubeconfig_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(KubernetesUnavailable, match="set KUBECONFIG"):
        KubernetesClient.connect(tmp_path / "none")
