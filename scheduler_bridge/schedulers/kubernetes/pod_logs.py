"""Finds the job of a pod's log: the kubelet's path names the pod, and the API server knows which job the pod is of.

A kubelet keeps the log of a container that was restarted N times in `NAMESPACE_POD_UID/CONTAINER/N.log`. The path is the kubelet's own
(pods cannot write there), the owner is in the pod's metadata, and the job's name and attempt are on the Job itself, where the
watcher reads them, too (`scheduler_bridge.schedulers.kubernetes.client.lineage`).
"""

import os
import threading
from pathlib import Path
from typing import NamedTuple

import structlog

from schedmate_records import LogChunk

from .client.attempts import present_attempt
from .client.client import KubernetesClient
from .client.errors import KubernetesError, KubernetesNotFound
from .client.lineage import incarnation_of, job_id
from .client.objects import Meta, Pod
from .client.resources import main_container
from .client.store import Informer
from .client.workloads.batch_job import Job
from .client.workloads.kind import WorkloadObject
from .client.workloads.kinds import kind_of

log = structlog.get_logger(__name__)


class PodDirectory(NamedTuple):
    """The parts of the name of a pod's directory."""

    namespace: str
    pod: str
    uid: str

    @classmethod
    def parse(cls, name: str) -> "PodDirectory | None":
        """Read `team-a_train-x7k2p_0f1d…`; None for another name. Names of namespaces and pods hold no underscore."""
        parts = name.split("_")
        return cls(*parts) if len(parts) == 3 and all(parts) else None  # NAMESPACE_POD_UID


class PodLogs:
    """The logs below the kubelet's directory that belong to Jobs.

    Nothing here waits for the API server: a thread follows the pods of this node, another asks for their Jobs, and a log is found once both
    are known. What is known of a pod stays as long as its directory does, so a log outlives the pod that wrote it.

    Args:
        directory: `/var/log/pods`.
        node: This node, as Kubernetes calls it.
    """

    def __init__(self, directory: Path, node: str, client: KubernetesClient) -> None:
        self._directory, self._node, self._client = directory, node, client
        self._pods = Informer(client, Pod, lambda: None, fields=f"spec.nodeName={node}")
        self._known: dict[PodDirectory, tuple[str, LogChunk | None]] = {}
        """By directory: the container that counts, and an empty chunk; None for a pod of no Job."""
        self._wanted: dict[PodDirectory, Pod] = {}
        self._asked = threading.Condition()
        self._stop = threading.Event()

    def start(self) -> None:
        """Begin to follow the pods of the node."""
        for name, run in (("pods", self._follow), ("pod jobs", self._ask)):
            threading.Thread(target=run, name=name, daemon=True).start()

    def close(self) -> None:
        """Ask no more."""
        self._stop.set()
        with self._asked:
            self._asked.notify_all()

    @property
    def error(self) -> KubernetesError | None:
        """Why the API server cannot be asked; None where it answers."""
        return self._pods.error

    def found(self) -> dict[str, LogChunk]:
        """Return the logs that belong to Jobs, by path, each with an empty chunk of its job."""
        pods = {pod.metadata.uid: pod for pod in self._pods.objects() or ()}
        logs: dict[str, LogChunk] = {}
        standing: set[PodDirectory] = set()
        for entry in _scan(self._directory):
            if (where := PodDirectory.parse(entry.name)) is None:
                continue
            standing.add(where)
            container, chunk = self._look_up(where, pods.get(where.uid))
            if chunk:
                place = Path(entry.path, container)
                logs |= {each.path: chunk for each in _scan(place) if _is_log(each.name)}
        with self._asked:
            self._known = {where: known for where, known in self._known.items() if where in standing}
        return logs

    def _look_up(self, where: PodDirectory, pod: Pod | None) -> tuple[str, LogChunk | None]:
        """Return what is known of a pod; ask for its Job where nothing is."""
        with self._asked:
            if (known := self._known.get(where)) is not None:
                return known
            # A directory and a pod of one uid and two names are nothing that a kubelet makes.
            if pod and (pod.metadata.namespace, pod.metadata.name) == where[:2] and where not in self._wanted:
                self._wanted[where] = pod
                self._asked.notify_all()
        return "", None

    def _follow(self) -> None:
        self._pods.run(self._stop)

    def _ask(self) -> None:
        while not self._stop.is_set():
            with self._asked:
                self._asked.wait_for(lambda: self._wanted or self._stop.is_set())
                wanted = dict(self._wanted)
            for where, pod in wanted.items():
                if self._stop.is_set():
                    return
                try:
                    known = self._job_of(pod)
                except KubernetesError as error:
                    log.warning("job_of_pod_not_known", pod=pod.metadata.name, error=str(error))
                    self._stop.wait(1.0)
                    continue
                with self._asked:
                    del self._wanted[where]
                    self._known[where] = known

    def _job_of(self, pod: Pod) -> tuple[str, LogChunk | None]:
        container, owner = main_container(pod), self._owner_of(pod.metadata)
        if owner is None or container is None:
            return "", None
        if isinstance(owner, Job) and (whole := self._owner_of(owner.metadata)):
            owner = whole  # a Job of a JobSet is a part of that
        return container.name, LogChunk(
            job=job_id(owner.metadata, owner.WORD),
            attempt=present_attempt(owner),
            incarnation=incarnation_of(owner.metadata),
            node=self._node,
            rank=owner.rank(pod),
            lines=[],
            time=0.0,
        )

    def _owner_of(self, meta: Meta) -> WorkloadObject | None:
        """Return the job that an object belongs to; None where it belongs to none of a known kind."""
        owner = meta.controller
        if owner is None or (kind := kind_of(owner)) is None:
            return None
        try:
            found = self._client.workload(kind, meta.namespace, owner.name)
        except KubernetesNotFound:
            return None
        return found if found.metadata.uid == owner.uid else None  # else deleted, and another of its name made since


def _is_log(name: str) -> bool:
    """True for `0.log`, not for what it is called once it was rotated (`0.log.20260203-040506`)."""
    number, dot, ending = name.partition(".")
    return number.isascii() and number.isdecimal() and dot + ending == ".log"


def _scan(directory: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):  # a pod that is gone, or a container that has not begun
        return []
