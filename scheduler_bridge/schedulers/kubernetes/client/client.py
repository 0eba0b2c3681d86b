"""Requests to the API server: each with a time limit, each error by name.

Answers are decoded into the few fields that are read here, not into the client library's own models, which cost a hundred times
as much for a list of thousands of pods.
"""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import urllib3
from kubernetes import client as official
from kubernetes import config

from schedmate_records import NOT_JSON

from .errors import (
    KubernetesConflict,
    KubernetesError,
    KubernetesForbidden,
    KubernetesNotFound,
    KubernetesRefused,
    KubernetesUnavailable,
    ResourceVersionExpired,
)
from .objects import Job, ListMeta, Node, Pod
from .workloads.kind import WorkloadObject
from .workloads.kueue import QueuedWorkload

_T = TypeVar("_T", bound=Job | Node | Pod | WorkloadObject | QueuedWorkload)
_Custom = TypeVar("_Custom", bound=WorkloadObject | QueuedWorkload)
_Decoded = TypeVar("_Decoded")
_PAGE = 500
"""Objects of one answer to a list, as kubectl asks for them."""
_PAGES = 400  # pages of one list at most, so that a faulty server cannot keep it going
_WATCHED = 300
"""Seconds after which the API server ends a watch. The next one continues from the same resource version."""


class _List(msgspec.Struct):
    metadata: ListMeta
    items: list[msgspec.Raw]


class KubernetesClient:
    """Jobs of all known kinds, Pods and Nodes of one cluster.

    Raises `KubernetesUnavailable` where the API server does not answer, and another `KubernetesError` where it refuses.

    Args:
        api: The official client's connection.
        timeout: Seconds that one request may take.
    """

    def __init__(self, api: official.ApiClient, timeout: float = 10.0) -> None:
        self._api = api
        self._core = official.CoreV1Api(api)
        self._batch = official.BatchV1Api(api)
        self._custom = official.CustomObjectsApi(api)
        self._limits: dict[str, Any] = {"_preload_content": False, "_request_timeout": (3.0, timeout)}

    @classmethod
    def connect(cls, kubeconfig: Path | None = None) -> "KubernetesClient":
        """Connect as a pod's service account does, or through a kubeconfig (KUBECONFIG, ~/.kube/config).

        Raises:
            KubernetesUnavailable: Neither is there.
        """
        configuration = official.Configuration()
        try:
            if kubeconfig:
                config.load_kube_config(str(kubeconfig), client_configuration=configuration)
            else:
                try:
                    config.load_incluster_config(client_configuration=configuration)
                except config.ConfigException:
                    config.load_kube_config(client_configuration=configuration)
        except Exception as error:  # what the library's YAML parser raises of a file that is no kubeconfig, included
            expected = "a pod's service account or a kubeconfig"
            came = " ".join(str(error).split())[:300]
            raise KubernetesUnavailable(expected, came, "set KUBECONFIG, or run in a pod") from error
        return cls(official.ApiClient(configuration))

    def job(self, namespace: str, name: str) -> Job:
        """Return a Job."""
        return _decode(self._ask(self._batch.read_namespaced_job, name, namespace), Job)

    def raw_job(self, namespace: str, name: str) -> dict[str, Any]:
        """Return a Job with all its fields, so that another can be made of it."""
        return _decode(self._ask(self._batch.read_namespaced_job, name, namespace), dict[str, Any])

    def jobs(self, namespace: str, selector: str) -> list[Job]:
        """Return the Jobs of a namespace that a label selector fits."""
        return self._list(Job, self._batch.list_namespaced_job, namespace, label_selector=selector)[0]

    def pods(self, namespace: str, selector: str) -> list[Pod]:
        """Return the pods of a namespace that a label selector fits."""
        return self._list(Pod, self._core.list_namespaced_pod, namespace, label_selector=selector)[0]

    def pods_on(self, node: str) -> list[Pod]:
        """Return the pods on a node."""
        return self._list(Pod, self._core.list_pod_for_all_namespaces, field_selector=f"spec.nodeName={node}")[0]

    def node(self, name: str) -> Node:
        """Return a node."""
        return _decode(self._ask(self._core.read_node, name), Node)

    def raw_node(self, name: str) -> dict[str, Any]:
        """Return a node with all its fields, for people."""
        return _decode(self._ask(self._core.read_node, name), dict[str, Any])

    def nodes(self) -> list[Node]:
        """Return all nodes."""
        return self._list(Node, self._core.list_node)[0]

    def list_all(self, kind: type[_T], namespace: str = "", fields: str = "") -> tuple[list[_T], str]:
        """Return all objects of a kind, and the resource version at which a watch goes on. All namespaces where none is given."""
        verb, where = self._verb(kind, namespace)
        return self._list(kind, verb, *where, **_selected(fields))

    def watch(self, kind: type[_T], version: str, namespace: str = "", fields: str = "") -> Iterator[bytes]:
        """Yield what changes since `version`, one JSON document each, until the server ends the watch.

        Raises:
            ResourceVersionExpired: The version is too old.
        """
        verb, where = self._verb(kind, namespace)
        limits = self._limits | {"_request_timeout": (3.0, float(_WATCHED) + 30)}
        asked = {"watch": True, "allow_watch_bookmarks": True, "timeout_seconds": _WATCHED, **_selected(fields)}
        with _translated(), contextlib.closing(verb(*where, resource_version=version, **asked, **limits)) as answer:
            rest = b""
            for piece in answer.stream(amt=None):
                *lines, rest = (rest + piece).split(b"\n")
                yield from lines

    def patch_job(self, job: Job, patch: Mapping[str, Any]) -> Job:
        """Change a Job, unless another has taken its name."""
        return _decode(
            self._ask(
                self._batch.patch_namespaced_job,
                job.metadata.name,
                job.metadata.namespace,
                _merged({"metadata": {"uid": job.metadata.uid}}, patch),
            ),
            Job,
        )

    def create_job(self, namespace: str, body: Mapping[str, Any]) -> Job:
        """Create a Job. Raises `KubernetesConflict` where its name is taken."""
        return _decode(self._ask(self._batch.create_namespaced_job, namespace, dict(body)), Job)

    def delete_job(self, job: Job) -> None:
        """Delete a Job and its pods, unless another has taken its name."""
        options = {"propagationPolicy": "Background", "preconditions": {"uid": job.metadata.uid}}
        self._ask(self._batch.delete_namespaced_job, job.metadata.name, job.metadata.namespace, body=options)

    def workload(self, kind: type[_Custom], namespace: str, name: str) -> _Custom:
        """Return an object of a kind. Raises `KubernetesNotFound` where there is none, or the cluster does not know the kind."""
        return _decode(self._read_custom(kind, namespace, name), kind)

    def raw_workload(self, kind: type[_Custom], namespace: str, name: str) -> dict[str, Any]:
        """Return an object of a kind with all its fields, so that another can be made of it."""
        return _decode(self._read_custom(kind, namespace, name), dict[str, Any])

    def workloads(self, kind: type[_Custom], namespace: str, selector: str) -> list[_Custom]:
        """Return the objects of a kind that a label selector fits; none where the cluster does not know the kind."""
        try:
            verb, where = self._verb(kind, namespace)
            return self._list(kind, verb, *where, label_selector=selector)[0]
        except KubernetesNotFound:
            return []

    def patch_workload(self, one: _Custom, patch: Mapping[str, Any]) -> _Custom:
        """Change an object of a kind, unless another has taken its name."""
        meta, merged = one.metadata, _merged({"metadata": {"uid": one.metadata.uid}}, patch)
        verb = self._custom.patch_namespaced_custom_object
        for newer in one.NEWER:
            with contextlib.suppress(KubernetesNotFound):  # an older server does not know it
                answer = self._ask(verb, one.GROUP, newer, meta.namespace, one.PLURAL, meta.name, merged)
                return _decode(answer, type(one))
        answer = self._ask(verb, one.GROUP, one.VERSION, meta.namespace, one.PLURAL, meta.name, merged)
        return _decode(answer, type(one))

    def create_custom(self, plural: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Create an object of a custom kind in its namespace. Raises `KubernetesConflict` where its name is taken."""
        group, _, version = body["apiVersion"].partition("/")
        verb = self._custom.create_namespaced_custom_object
        return _decode(
            self._ask(verb, group, version, body["metadata"]["namespace"], plural, dict(body)), dict[str, Any]
        )

    def delete_custom(self, plural: str, body: Mapping[str, Any]) -> None:
        """Delete an object of a custom kind by its manifest. Raises `KubernetesNotFound` where it is gone."""
        group, _, version = body["apiVersion"].partition("/")
        meta, verb = body["metadata"], self._custom.delete_namespaced_custom_object
        self._ask(verb, group, version, meta["namespace"], plural, meta["name"])

    def delete_workload(self, one: WorkloadObject) -> None:
        """Delete an object of a kind and what it owns, unless another has taken its name."""
        options = {"propagationPolicy": "Background", "preconditions": {"uid": one.metadata.uid}}
        verb, meta = self._custom.delete_namespaced_custom_object, one.metadata
        self._ask(verb, one.GROUP, one.VERSION, meta.namespace, one.PLURAL, meta.name, body=options)

    def patch_node(self, node: Node, patch: Mapping[str, Any]) -> Node:
        """Change a node. Raises `KubernetesConflict` where somebody changed it since it was read."""
        version = {"metadata": {"resourceVersion": node.metadata.resource_version}}
        return _decode(self._ask(self._core.patch_node, node.metadata.name, _merged(version, patch)), Node)

    def evict(self, pod: Pod, *, dry_run: bool = False) -> None:
        """Evict a pod through the eviction API. Raises `KubernetesRefused` where a PodDisruptionBudget forbids it."""
        meta = pod.metadata
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": meta.name, "namespace": meta.namespace},
            "deleteOptions": {"preconditions": {"uid": meta.uid}},
        }
        asked = {"dry_run": "All"} if dry_run else {}
        self._ask(self._core.create_namespaced_pod_eviction, meta.name, meta.namespace, body, **asked)

    def tell(self, about: Job | Node | WorkloadObject, reason: str, note: str) -> None:
        """Write an Event on an object, as `kubectl describe` shows it."""
        meta = about.metadata
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        space = meta.namespace or "default"  # nodes have none, and their Events stand there
        body = {
            "metadata": {"generateName": f"{meta.name[:200]}.", "namespace": space},
            "involvedObject": {
                "apiVersion": about.API_VERSION,
                "kind": about.KIND,
                "name": meta.name,
                "uid": meta.uid,
                **({"namespace": meta.namespace} if meta.namespace else {}),
            },
            "reason": reason,
            "message": note[:1000],
            "type": "Normal",
            "source": {"component": "schedmate"},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
        self._ask(self._core.create_namespaced_event, space, body)

    def _verb(self, kind: type[_T], namespace: str) -> tuple[Callable[..., Any], tuple[str, ...]]:
        if issubclass(kind, Node):
            return self._core.list_node, ()
        if issubclass(kind, WorkloadObject | QueuedWorkload):
            if namespace:
                return self._custom.list_namespaced_custom_object, (kind.GROUP, kind.VERSION, namespace, kind.PLURAL)
            return self._custom.list_cluster_custom_object, (kind.GROUP, kind.VERSION, kind.PLURAL)
        if issubclass(kind, Job):
            everywhere, there = self._batch.list_job_for_all_namespaces, self._batch.list_namespaced_job
        else:
            everywhere, there = self._core.list_pod_for_all_namespaces, self._core.list_namespaced_pod
        return (there, (namespace,)) if namespace else (everywhere, ())

    def _read_custom(self, kind: type[_Custom], namespace: str, name: str) -> bytes:
        return self._ask(
            self._custom.get_namespaced_custom_object, kind.GROUP, kind.VERSION, namespace, kind.PLURAL, name
        )

    def _list(self, kind: type[_T], verb: Callable[..., Any], *where: str, **asked: str) -> tuple[list[_T], str]:
        found: list[_T] = []
        for _ in range(_PAGES):
            page = _decode(self._ask(verb, *where, limit=_PAGE, **asked), _List)
            found += [_decode(item, kind) for item in page.items]
            if not page.metadata.continue_:
                return found, page.metadata.resource_version
            asked["_continue"] = page.metadata.continue_
        raise KubernetesRefused(f"at most {_PAGE * _PAGES} objects", "more", "name a namespace")

    def _ask(self, verb: Callable[..., Any], *where: Any, **asked: Any) -> bytes:
        try:
            with _translated(), contextlib.closing(verb(*where, **asked, **self._limits)) as answer:
                data: bytes = answer.read() if hasattr(answer, "read") else answer.data
                return data
        except KubernetesForbidden as error:
            if self._is_ready():
                raise
            raise KubernetesUnavailable(error.expected, error.came, "it is asked again once it is ready") from error

    def _is_ready(self) -> bool:
        """False where the API server reports that it is not ready: one that has just started does not know yet who may do what."""
        with contextlib.suppress(urllib3.exceptions.HTTPError, OSError, official.ApiException):
            request = self._api.param_serialize("GET", "/readyz", auth_settings=["BearerToken"])
            return bool(self._api.call_api(*request, _request_timeout=self._limits["_request_timeout"]).status == 200)
        return False


def _decode(data: bytes | msgspec.Raw, kind: type[_Decoded]) -> _Decoded:
    with _translated():
        return msgspec.json.decode(data, type=kind)


def _selected(fields: str) -> dict[str, str]:
    return {"field_selector": fields} if fields else {}


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return a patch with the `metadata` of both, and with the other fields of `other`."""
    return {**one, **other, "metadata": {**one.get("metadata", {}), **other.get("metadata", {})}}


_BY_STATUS: Mapping[int, tuple[type[KubernetesError], str]] = {
    401: (KubernetesUnavailable, "the token or certificate is not accepted"),
    403: (KubernetesForbidden, "give the service account this right (docs/kubernetes.md)"),
    404: (KubernetesNotFound, "nothing was done"),
    409: (KubernetesConflict, "nothing was done; it is looked at again"),
    410: (ResourceVersionExpired, "the list is read again"),
}


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Raise the client library's errors as ours."""
    try:
        yield
    except official.ApiException as error:
        status = int(error.status or 0)
        wrong, remedy = _BY_STATUS.get(status, (KubernetesRefused, "nothing was done"))
        # A full API server answers 429 with a text of its own; a disruption budget with a reason that names it.
        away = status >= 500 or status == 0 or (status == 429 and "disruption budget" not in _message(error))
        kind = KubernetesUnavailable if away else wrong
        raise kind("an answer of the API server", f"{status} {_message(error)}"[:500], remedy) from error
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise KubernetesUnavailable(
            "an answer of the API server", f"{type(error).__name__}: {error}"[:300], "it is asked again"
        ) from error
    except NOT_JSON as error:
        raise KubernetesRefused("an object of the Kubernetes API", str(error)[:300], "nothing was done") from error


def _message(error: official.ApiException) -> str:
    body = error.body if isinstance(error.body, str) else ""
    try:
        return str(json.loads(body).get("message", ""))
    except (ValueError, AttributeError):
        return body or str(error.reason)
