"""Stand-ins for the kubelets of the real control plane: its nodes are objects only.

`Kubelets` starts nothing: a pod runs until a test says how its container ended. `ProcessKubelets` runs the first container of each pod as a
process of this host, without its image, and keeps its log as a kubelet does. Neither pulls images nor makes sandboxes, so a pod starts here
sooner than on a real node.
"""

import os
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .kubernetes import Kubernetes

CONTAINER = {"name": "train", "image": "train", "imageID": "", "restartCount": 0}
_MERGE = "application/strategic-merge-patch+json"
_TERMINATED = 143
"""Exit code of a container that SIGTERM ended."""


class Kubelets:
    """Starts the pods that the scheduler placed, and ends those that are deleted.

    As a kubelet does, it ends a pod that is deleted with a final status first, and then removes it.
    """

    def __init__(self, cluster: "Kubernetes") -> None:
        self._cluster = cluster
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kubelets", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stop.set()
        self._thread.join()

    def begin(self, pod: Any) -> None:
        """Start a pod's container, which was not started before."""

    def exit_code(self, pod: Any) -> int | None:
        """Return how a pod's container ended by itself; None while it runs."""
        return None

    def end(self, pod: Any) -> bool:
        """End a pod's container as its deletion asks; True once it is gone."""
        return True

    def _run(self) -> None:
        while not self._stop.wait(0.05):
            found = self._cluster.api(
                "GET", "/api/v1/pods?fieldSelector=spec.nodeName!=&resourceVersion=0", check=False
            )
            for pod in found["items"] if found else ():
                self._sync(pod)

    def _sync(self, pod: Any) -> None:
        meta, status = pod["metadata"], pod["status"]
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        over = status.get("phase") in ("Succeeded", "Failed")
        if "deletionTimestamp" in meta:
            if not self.end(pod):
                return
            if not over:
                self._patch(path, terminated(_TERMINATED, "Error"))
            if meta.get("deletionGracePeriodSeconds") != 0:
                self._cluster.api("DELETE", path, {"gracePeriodSeconds": 0}, check=False)
        elif status.get("phase") == "Pending":
            self.begin(pod)
            now = _now()
            ready = [{"type": "Ready", "status": "True", "lastTransitionTime": now}]
            state = {"running": {"startedAt": now}}
            containers = [{**CONTAINER, "ready": True, "started": True, "state": state}]
            self._patch(
                path, {"phase": "Running", "startTime": now, "conditions": ready, "containerStatuses": containers}
            )
        elif not over and (code := self.exit_code(pod)) is not None:
            self._patch(path, terminated(code, "Error" if code else "Completed"))

    def _patch(self, path: str, status: Mapping[str, Any]) -> None:
        self._cluster.api("PATCH", f"{path}/status", {"status": status}, kind=_MERGE, check=False)


class ProcessKubelets(Kubelets):
    """Runs the first container of each pod as a process, and keeps its log where the kubelets of all nodes keep theirs: `NODE/pods`."""

    def __init__(self, cluster: "Kubernetes") -> None:
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._deadlines: dict[str, float] = {}
        super().__init__(cluster)

    def stop(self) -> None:
        """End, and all containers."""
        super().stop()
        for process in self._processes.values():
            process.kill()
            process.wait()

    def begin(self, pod: Any) -> None:
        """Start its command, with the variables and the downward API's fields that it names."""
        meta, container = pod["metadata"], pod["spec"]["containers"][0]
        if meta["uid"] in self._processes:  # the list from which it comes was made before its status was written
            return
        named = {each["name"]: _value(pod, each) for each in container.get("env", ())}
        line = [_expanded(word, named) for word in (*container["command"], *container.get("args", ()))]
        logs = pod_logs(self._cluster.root, pod["spec"]["nodeName"])
        log = logs / f"{meta['namespace']}_{meta['name']}_{meta['uid']}" / container["name"] / "0.log"
        log.parent.mkdir(parents=True)
        process = subprocess.Popen(
            line, env={**os.environ, **named}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=self._cluster.root
        )
        self._processes[meta["uid"]] = process
        threading.Thread(target=_keep, args=(process, log), name=f"log of {meta['name']}", daemon=True).start()

    def exit_code(self, pod: Any) -> int | None:
        """Return the exit code of its process, as a container runtime tells it; None while it runs."""
        process = self._processes.get(pod["metadata"]["uid"])
        code = process.poll() if process else None
        return 128 - code if code is not None and code < 0 else code

    def end(self, pod: Any) -> bool:
        """Send SIGTERM, and SIGKILL once the grace period is over."""
        meta = pod["metadata"]
        process = self._processes.get(meta["uid"])
        if process is None or process.poll() is not None:
            return True
        grace = float(meta.get("deletionGracePeriodSeconds", 0))
        if meta["uid"] not in self._deadlines:
            self._deadlines[meta["uid"]] = time.monotonic() + grace
            process.terminate()
        elif time.monotonic() >= self._deadlines[meta["uid"]]:
            process.kill()
        return False


def pod_logs(root: Path, node: str) -> Path:
    """Return what stands for `/var/log/pods` of a node."""
    return root / node / "pods"


def terminated(exit_code: int, reason: str) -> dict[str, Any]:
    """Return the status of a pod whose container ended so."""
    now = _now()
    state = {"terminated": {"exitCode": exit_code, "reason": reason, "startedAt": now, "finishedAt": now}}
    phase = "Failed" if exit_code else "Succeeded"
    return {"phase": phase, "containerStatuses": [{**CONTAINER, "ready": False, "state": state}]}


def _keep(process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Write what a container prints as containerd does: time, stream, whole line (CRI)."""
    assert process.stdout is not None
    with log.open("ab", buffering=0) as out:
        for line in process.stdout:
            at = time.time()
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1e9):09d}Z"
            out.write(f"{stamp} stdout F ".encode() + line.rstrip(b"\n") + b"\n")


def _value(pod: Any, variable: Mapping[str, Any]) -> str:
    """Return a variable's value; of the downward API it knows `metadata.name`, `metadata.namespace` and `spec.nodeName`."""
    if "value" in variable:
        return str(variable["value"])
    part, _, name = variable["valueFrom"]["fieldRef"]["fieldPath"].partition(".")
    return str(pod[part][name])


def _expanded(word: str, named: Mapping[str, str]) -> str:
    for name, value in named.items():
        word = word.replace(f"$({name})", value)
    return word


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
