"""A real Kubernetes control plane on loopback: etcd, API server, scheduler, controller manager.

Nodes are objects only, of 8 GPUs each; a thread stands in for their kubelets (`kubelets.py`).
`tests/servers/install-kubernetes.sh` builds the binaries (minutes, 400 MB); `make test` calls it. Tests that need them skip where they are
absent. Access is by RBAC: the tests run as users that have the rights of the Helm chart, and no more.
"""

import json
import os
import secrets
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.servers import free_port, kill

from .kubelets import Kubelets, terminated

ROOT = Path(__file__).resolve().parents[2]
BINARIES = Path(os.environ.get("SCHEDMATE_TEST_KUBERNETES", ROOT / ".cache" / "kubernetes")) / "bin"
NAMES = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager")
NODES = ("gpu-1", "gpu-2", "gpu-3", "gpu-4")
GPUS = 8
RIGHTS = ROOT / "packaging" / "helm" / "schedmate" / "files" / "rights.yaml"
USERS = ("admin", "bridge", "watcher", "collector")
_CONTROLLERS = (
    "job-controller,cronjob-controller,garbage-collector-controller,disruption-controller,namespace-controller"
)


class Kubernetes:
    """A running control plane. `kubeconfig(user)` names a file that connects as that user."""

    def __init__(self, root: Path, kubelets: type[Kubelets] = Kubelets) -> None:
        self.root = root
        self._stand_in = kubelets
        self._asking = threading.RLock()
        self._tokens = {name: secrets.token_hex(16) for name in USERS}
        self._port, self._etcd, self._peer = (free_port() for _ in range(3))
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._kubelets: Kubelets | None = None
        lines = [
            f"{token},schedmate-{name},{name}{',system:masters' if name == 'admin' else ''}"
            for name, token in self._tokens.items()
        ]
        (root / "tokens.csv").write_text("\n".join(lines) + "\n")
        subprocess.run(["openssl", "genrsa", "-out", str(root / "sa.key"), "2048"], check=True, capture_output=True)

    def kubeconfig(self, user: str = "admin") -> Path:
        """Return the kubeconfig of a user."""
        file = self.root / f"{user}.yaml"
        if not file.exists():
            cluster = {
                "server": f"https://127.0.0.1:{self._port}",
                "certificate-authority": str(self.root / "certs" / "apiserver.crt"),
            }
            content = {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "test",
                "clusters": [{"name": "test", "cluster": cluster}],
                "users": [{"name": user, "user": {"token": self._tokens[user]}}],
                "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
            }
            file.write_text(json.dumps(content))
        return file

    def start(self) -> None:
        """Start everything, and return once the nodes are ready."""
        self._run("etcd", "--data-dir", str(self.root / "etcd"), "--listen-client-urls", f"http://127.0.0.1:{self._etcd}",
                  "--advertise-client-urls", f"http://127.0.0.1:{self._etcd}", "--listen-peer-urls", f"http://127.0.0.1:{self._peer}",
                  "--unsafe-no-fsync")  # fmt: skip
        self.start_server()
        certificate = self.root / "certs" / "apiserver.key"  # written after the certificate
        self.until(certificate.exists, "the API server has made its certificate")
        self._wait_for_server()
        kubeconfig = str(self.kubeconfig())
        self._run("kube-controller-manager", "--kubeconfig", kubeconfig, "--leader-elect=false", "--secure-port=0",
                  f"--controllers={_CONTROLLERS}", "--kube-api-qps=200", "--kube-api-burst=400")  # fmt: skip
        self._run("kube-scheduler", "--kubeconfig", kubeconfig, "--leader-elect=false", "--secure-port=0")
        rights = yaml.safe_load(RIGHTS.read_text())
        for user in USERS[1:]:
            # The bridge with all of its actions turned on.
            self._bind(
                user, [rule for name, rules in rights.items() if name.partition("-")[0] == user for rule in rules]
            )
        for name in NODES:
            self._add_node(name)
        self.until(lambda: all(self._is_ready(name) for name in NODES), "all nodes are ready")
        self._kubelets = self._stand_in(self)

    def start_server(self) -> None:
        """Start the API server."""
        key = str(self.root / "sa.key")
        self._run("kube-apiserver", "--etcd-servers", f"http://127.0.0.1:{self._etcd}", "--bind-address=127.0.0.1",
                  f"--secure-port={self._port}", "--cert-dir", str(self.root / "certs"), "--token-auth-file", str(self.root / "tokens.csv"),
                  "--authorization-mode=RBAC", "--service-account-key-file", key, "--service-account-signing-key-file", key,
                  "--service-account-issuer=https://test", "--service-cluster-ip-range=10.0.0.0/24",
                  "--disable-admission-plugins=ServiceAccount", "--allow-privileged=true")  # fmt: skip

    def stop_server(self) -> None:
        """End the API server, as an outage would."""
        kill(self._processes.pop("kube-apiserver"))

    def restart_server(self) -> None:
        """Kill the API server and start it again. Whoever asks through `api` meanwhile waits; all others see an outage."""
        with self._asking:
            self.stop_server()
            self.start_server()
            self._wait_for_server()

    def stop(self) -> None:
        """End everything, etcd last."""
        if self._kubelets:
            self._kubelets.stop()
        for process in reversed(self._processes.values()):
            kill(process)

    def api(
        self,
        verb: str,
        path: str,
        body: Any = None,
        *,
        kind: str = "application/json",
        raw: bool = False,
        check: bool = True,
    ) -> Any:
        """Ask the API server as the administrator; None where it has no such thing, or does not answer."""
        from kubernetes import client, config
        from urllib3.exceptions import HTTPError

        if not hasattr(self, "_client"):
            configuration = client.Configuration()
            config.load_kube_config(str(self.kubeconfig()), client_configuration=configuration)
            configuration.retries = False
            self._client = client.ApiClient(configuration)
        headers = {
            "Authorization": f"Bearer {self._tokens['admin']}",
            "Content-Type": kind,
            "Accept": "application/json",
        }
        url = f"https://127.0.0.1:{self._port}{path}"
        try:
            with self._asking:
                answer = self._client.rest_client.pool_manager.request(
                    verb, url, body=json.dumps(body) if body is not None else None, headers=headers, timeout=20.0
                )
        except HTTPError as error:  # it is not up yet
            if "certificate" in str(error).lower():
                raise
            return None
        text = answer.data.decode()
        if raw:
            return text
        if answer.status == 404 or (answer.status >= 300 and not check):
            return None
        assert answer.status < 300, f"{verb} {path}: {answer.status} {text[:500]}"
        return json.loads(text)

    def apply(self, manifest: Mapping[str, Any], *, dry_run: bool = False) -> Any:
        """Create an object, or ask whether it could be created, no field of it being unknown."""
        plural = {"NetworkPolicy": "networkpolicies", "PriorityClass": "priorityclasses"}.get(
            manifest["kind"], manifest["kind"].lower() + "s"
        )
        version = manifest["apiVersion"]
        space = manifest["metadata"].get("namespace")
        path = f"/api/{version}" if "/" not in version else f"/apis/{version}"
        path += (
            (f"/namespaces/{space}" if space else "")
            + f"/{plural}"
            + ("?dryRun=All&fieldValidation=Strict" if dry_run else "")
        )
        return self.api("POST", path, dict(manifest))

    def namespace(self, name: str) -> str:
        """Make a namespace."""
        self.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        return name

    def submit(
        self,
        namespace: str,
        name: str,
        *,
        gpus: int = GPUS,
        pods: int = 1,
        indexed: bool = False,
        container: Mapping[str, Any] | None = None,
        **spec: Any,
    ) -> str:
        """Create a Job whose pods take `gpus` each, and return the job's id. `container` says what its container is beside that."""
        limits = {"nvidia.com/gpu": str(gpus)}
        container = {
            "name": "train",
            "image": "train",
            "command": ["python"],
            "args": ["train.py"],
            "workingDir": "/work",
            "resources": {"limits": limits},
            **(container or {}),
        }
        template = spec.pop("template", {})
        pod = {"restartPolicy": "Never", "containers": [container], "terminationGracePeriodSeconds": 1, **template}
        mode = {"completionMode": "Indexed"} if indexed else {}
        body = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "namespace": namespace, **spec.pop("metadata", {})},
            "spec": {
                "parallelism": pods,
                "completions": pods,
                "backoffLimit": 0,
                **mode,
                **spec,
                "template": {"spec": pod},
            },
        }
        self.apply(body)
        return f"{namespace}/{name}"

    def job(self, job: str) -> Any:
        """Return a Job by `NAMESPACE/NAME`."""
        namespace, name = job.split("/")
        return self.api("GET", f"/apis/batch/v1/namespaces/{namespace}/jobs/{name}")

    def pods(self, job: str) -> list[Any]:
        """Return the pods of a Job, those that are over included."""
        namespace, name = job.split("/")
        found = self.api(
            "GET", f"/api/v1/namespaces/{namespace}/pods?labelSelector=batch.kubernetes.io/job-name={name}"
        )
        return list(found["items"])

    def running(self, job: str) -> list[str]:
        """Return the nodes on which pods of a Job run."""
        return [
            pod["spec"].get("nodeName", "")
            for pod in self.pods(job)
            if pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
        ]

    def wait_running(self, job: str, pods: int = 1) -> list[str]:
        """Wait until so many pods of a Job run; return their nodes."""
        self.until(lambda: len(self.running(job)) == pods, f"{job} runs")
        return self.running(job)

    def end(self, job: str, exit_code: int, reason: str = "") -> None:
        """End the running pods of a Job, as their kubelet would."""
        for pod in self.pods(job):
            if pod["status"].get("phase") != "Running":
                continue
            path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}/status"
            status = terminated(exit_code, reason or ("Error" if exit_code else "Completed"))
            self.api("PATCH", path, {"status": status}, kind="application/strategic-merge-patch+json", check=False)

    def delete(self, path: str) -> None:
        """Delete an object, and what it owns."""
        self.api("DELETE", path, {"propagationPolicy": "Background"})

    def until(self, reached: Callable[[], bool], what: str, seconds: float = 60) -> None:
        """Wait until something holds."""
        deadline = time.monotonic() + seconds
        while not reached():
            for name, process in list(self._processes.items()):  # the server may be restarted meanwhile
                assert process.poll() is None, f"{name} ended:\n{self.log(name)}"
            assert time.monotonic() < deadline, f"expected: {what}\n" + "\n".join(
                self.log(name, 10) for name in self._processes
            )
            time.sleep(0.05)

    def log(self, name: str, lines: int = 40) -> str:
        """Return the end of a program's log."""
        return name + "\n" + "\n".join((self.root / f"{name}.log").read_text(errors="replace").splitlines()[-lines:])

    def _wait_for_server(self) -> None:
        self.until(lambda: self.api("GET", "/readyz", raw=True) == "ok", "the API server is ready")

    def _run(self, name: str, *options: str) -> None:
        with (self.root / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [str(BINARIES / name), *options], cwd=self.root, stdout=log, stderr=log
            )

    def _bind(self, user: str, rules: list[Any]) -> None:
        group = "rbac.authorization.k8s.io"
        meta = {"name": f"schedmate-{user}"}
        self.apply({"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": meta, "rules": rules})
        self.apply(
            {
                "apiVersion": f"{group}/v1",
                "kind": "ClusterRoleBinding",
                "metadata": {"name": f"test-{user}"},
                "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": f"schedmate-{user}"},
                "subjects": [{"apiGroup": group, "kind": "User", "name": f"schedmate-{user}"}],
            }
        )

    def _add_node(self, name: str) -> None:
        size = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": str(GPUS)}
        labels = {"kubernetes.io/hostname": f"host-{name}", "cloud.google.com/gke-nodepool": "gpus"}
        meta = {"name": name, "labels": labels}
        self.apply({"apiVersion": "v1", "kind": "Node", "metadata": meta})
        status = {"allocatable": size, "capacity": size, "conditions": [{"type": "Ready", "status": "True"}]}
        path = f"/api/v1/nodes/{name}"
        self.api("PATCH", f"{path}/status", {"status": status}, kind="application/strategic-merge-patch+json")
        # The API server taints a new node until the node lifecycle controller, which is not here, finds it ready.
        self.api("PATCH", path, {"spec": {"taints": None}}, kind="application/merge-patch+json")

    def _is_ready(self, name: str) -> bool:
        node = self.api("GET", f"/api/v1/nodes/{name}")
        ready = any(one["type"] == "Ready" and one["status"] == "True" for one in node["status"].get("conditions", []))
        return ready and not node["spec"].get("taints")


@contextmanager
def running(kubelets: type[Kubelets] = Kubelets) -> Iterator[Kubernetes]:
    """Start a control plane, and end it."""
    pytest.importorskip("kubernetes")
    if missing := [name for name in NAMES if not (BINARIES / name).exists()]:
        pytest.skip(
            f"no {', '.join(missing)} in {BINARIES}: tests/servers/install-kubernetes.sh builds them (Go, minutes, 400 MB), "
            "or SCHEDMATE_TEST_KUBERNETES names another folder"
        )
    root = Path(tempfile.mkdtemp(prefix="kubernetes-"))
    cluster = Kubernetes(root, kubelets)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="session")
def kubernetes() -> Iterator[Kubernetes]:
    """One control plane for the whole session of tests; every test has a namespace of its own."""
    with running() as cluster:
        yield cluster
