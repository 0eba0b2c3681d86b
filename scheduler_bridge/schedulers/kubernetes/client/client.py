"""Requests to the API server: each with a time limit, each error by name.

Answers are decoded into the few fields that are read here, not into the client library's own models, which cost a hundred times
as much for a list of thousands of pods.
"""

import contextlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

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
from .objects import ListMeta, Node, Pod
from .workloads.kind import WorkloadObject
from .workloads.kueue import QueuedWorkload

_T = TypeVar("_T", bound=Node | Pod | WorkloadObject | QueuedWorkload)
_Custom = TypeVar("_Custom", bound=WorkloadObject | QueuedWorkload)
_Decoded = TypeVar("_Decoded")
_PAGE = 500
"""Objects of one answer to a list, as kubectl asks for them."""
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
        self._timeout = timeout

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

    def pods(self, namespace: str, selector: str) -> list[Pod]:
        """Return the pods of a namespace that a label selector fits."""
        return self._list(Pod, namespace, labelSelector=selector)[0]

    def pods_on(self, node: str) -> list[Pod]:
        """Return the pods on a node."""
        return self.list_all(Pod, fields=f"spec.nodeName={node}")[0]

    def node(self, name: str) -> Node:
        """Return a node."""
        return _decode(self._ask("GET", _path(Node, "", name)), Node)

    def raw_node(self, name: str) -> dict[str, Any]:
        """Return a node with all its fields, for people."""
        return _decode(self._ask("GET", _path(Node, "", name)), dict[str, Any])

    def nodes(self) -> list[Node]:
        """Return all nodes."""
        return self.list_all(Node)[0]

    def list_all(self, kind: type[_T], namespace: str = "", fields: str = "") -> tuple[list[_T], str]:
        """Return all objects of a kind, and the resource version at which a watch goes on. All namespaces where none is given."""
        return self._list(kind, namespace, fieldSelector=fields)

    def watch(self, kind: type[_T], version: str, namespace: str = "", fields: str = "") -> Iterator[bytes]:
        """Yield what changes since `version`, one JSON document each, until the server ends the watch.

        Raises:
            ResourceVersionExpired: The version is too old.
        """
        asked = {"watch": "true", "allowWatchBookmarks": "true", "timeoutSeconds": str(_WATCHED)}
        query = {**asked, "resourceVersion": version, "fieldSelector": fields}
        with self._open("GET", _path(kind, namespace), query=query, timeout=_WATCHED + 30.0) as answer:
            rest = b""
            for piece in answer.stream(amt=None):
                *lines, rest = (rest + piece).split(b"\n")
                yield from lines

    def workload(self, kind: type[_Custom], namespace: str, name: str) -> _Custom:
        """Return an object of a kind. Raises `KubernetesNotFound` where there is none, or the cluster does not know the kind."""
        return _decode(self._ask("GET", _path(kind, namespace, name)), kind)

    def raw_workload(self, kind: type[_Custom], namespace: str, name: str) -> dict[str, Any]:
        """Return an object of a kind with all its fields, so that another can be made of it."""
        return _decode(self._ask("GET", _path(kind, namespace, name)), dict[str, Any])

    def workloads(self, kind: type[_Custom], namespace: str, selector: str) -> list[_Custom]:
        """Return the objects of a kind that a label selector fits; none where the cluster does not know the kind."""
        try:
            return self._list(kind, namespace, labelSelector=selector)[0]
        except KubernetesNotFound:
            return []

    def patch_workload(self, one: _Custom, patch: Mapping[str, Any]) -> _Custom:
        """Change an object of a kind, unless another has taken its name."""
        meta, merged = one.metadata, _merged({"metadata": {"uid": one.metadata.uid}}, patch)
        path = _path(one, meta.namespace, meta.name)
        if isinstance(one, QueuedWorkload):
            with contextlib.suppress(KubernetesNotFound):  # an older server does not know it
                return _decode(self._ask("PATCH", path.replace(one.API_VERSION, one.NEWER), merged), type(one))
        return _decode(self._ask("PATCH", path, merged), type(one))

    def create_custom(self, plural: str, body: Mapping[str, Any]) -> None:
        """Create an object in its namespace by its manifest. Raises `KubernetesConflict` where its name is taken."""
        self._ask("POST", _address(body["apiVersion"], plural, body["metadata"]["namespace"]), body)

    def delete_custom(self, plural: str, body: Mapping[str, Any]) -> None:
        """Delete an object by its manifest. Raises `KubernetesNotFound` where it is gone."""
        meta = body["metadata"]
        self._ask("DELETE", _address(body["apiVersion"], plural, meta["namespace"], meta["name"]))

    def delete_workload(self, one: WorkloadObject) -> None:
        """Delete an object of a kind and what it owns, unless another has taken its name."""
        options = {"propagationPolicy": "Background", "preconditions": {"uid": one.metadata.uid}}
        self._ask("DELETE", _path(one, one.metadata.namespace, one.metadata.name), options)

    def patch_node(self, node: Node, patch: Mapping[str, Any]) -> Node:
        """Change a node. Raises `KubernetesConflict` where somebody changed it since it was read."""
        version = {"metadata": {"resourceVersion": node.metadata.resource_version}}
        return _decode(self._ask("PATCH", _path(Node, "", node.metadata.name), _merged(version, patch)), Node)

    def evict(self, pod: Pod, *, dry_run: bool = False) -> None:
        """Evict a pod through the eviction API. Raises `KubernetesRefused` where a PodDisruptionBudget forbids it."""
        meta = pod.metadata
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": meta.name, "namespace": meta.namespace},
            "deleteOptions": {"preconditions": {"uid": meta.uid}},
        }
        path = f"{_path(Pod, meta.namespace, meta.name)}/eviction"
        self._ask("POST", path, body, {"dryRun": "All"} if dry_run else {})

    def tell(self, about: Node | WorkloadObject, reason: str, note: str) -> None:
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
        self._ask("POST", _address("v1", "events", space), body)

    def _list(self, kind: type[_T], namespace: str, **query: str) -> tuple[list[_T], str]:
        found: list[_T] = []
        # 400 pages at most, so that a faulty server cannot keep it going.
        for _ in range(400):
            page = _decode(self._ask("GET", _path(kind, namespace), query={"limit": str(_PAGE), **query}), _List)
            found += [_decode(item, kind) for item in page.items]
            if not page.metadata.continue_:
                return found, page.metadata.resource_version
            query["continue"] = page.metadata.continue_
        raise KubernetesRefused(f"at most {400 * _PAGE} objects", "more", "name a namespace")

    def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, query: Mapping[str, str] | None = None
    ) -> bytes:
        try:
            with self._open(method, path, body, query or {}) as answer:
                return answer.data
        except KubernetesForbidden as error:
            if self._is_ready():
                raise
            raise KubernetesUnavailable(error.expected, error.came, "it is asked again once it is ready") from error

    @contextlib.contextmanager
    def _open(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] = {},
        timeout: float = 0.0,
    ) -> Iterator[urllib3.BaseHTTPResponse]:
        """Give the answer to a request, and close it; raise the client library's errors, and refusals, as ours."""
        request = self._api.param_serialize(
            method,
            path,
            query_params=[(name, value) for name, value in query.items() if value],
            header_params={
                "Accept": "application/json",
                "Content-Type": "application/merge-patch+json" if method == "PATCH" else "application/json",
            },
            body=body and dict(body),
            auth_settings=["BearerToken"],
        )
        try:
            answer = self._api.call_api(*request, _request_timeout=(3.0, timeout or self._timeout)).response
            with contextlib.closing(answer):
                if not 200 <= answer.status < 300:
                    raise _refusal(answer.status, answer.data)
                yield answer
        except official.ApiException as error:
            raise _refusal(int(error.status or 0), str(error.reason).encode()) from error
        except (urllib3.exceptions.HTTPError, OSError) as error:
            came = f"{type(error).__name__}: {error}"[:300]
            raise KubernetesUnavailable("an answer of the API server", came, "it is asked again") from error

    def _is_ready(self) -> bool:
        """False where the API server reports that it is not ready: one that has just started does not know yet who may do what."""
        with contextlib.suppress(KubernetesError), self._open("GET", "/readyz"):
            return True
        return False


def _path(kind: Any, namespace: str, name: str = "") -> str:
    """Return the path of an object of a kind, or of all in a namespace; of the whole cluster where the namespace is empty."""
    return _address(kind.API_VERSION, kind.PLURAL, namespace, name)


def _address(version: str, plural: str, namespace: str, name: str = "") -> str:
    parts = [*(["namespaces", namespace] if namespace else []), plural, *([name] if name else [])]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    return "/".join((root, *(quote(part, safe="") for part in parts)))


def _decode(data: bytes | msgspec.Raw, kind: type[_Decoded]) -> _Decoded:
    try:
        return msgspec.json.decode(data, type=kind)
    except NOT_JSON as error:
        raise KubernetesRefused("an object of the Kubernetes API", str(error)[:300], "nothing was done") from error


def _merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return a patch with the `metadata` of both, and with the other fields of `other`."""
    return {**one, **other, "metadata": {**one.get("metadata", {}), **other.get("metadata", {})}}


_BY_STATUS: Mapping[int, tuple[type[KubernetesError], str]] = {
    401: (KubernetesUnavailable, "the token or certificate is not accepted"),
    403: (KubernetesForbidden, "give the service account this right (docs/kubernetes.md)"),
    404: (KubernetesNotFound, "nothing was done"),
    409: (KubernetesConflict, "nothing was done; it is checked again"),
    410: (ResourceVersionExpired, "the list is read again"),
}


def _refusal(status: int, body: bytes) -> KubernetesError:
    """Return the error for an answer that is none."""
    try:
        message = str(msgspec.json.decode(body, type=dict[str, Any]).get("message", ""))
    except NOT_JSON:
        message = body.decode(errors="replace")
    wrong, remedy = _BY_STATUS.get(status, (KubernetesRefused, "nothing was done"))
    # A full API server answers 429 with a text of its own; a disruption budget with a reason that names it.
    away = status >= 500 or status == 0 or (status == 429 and "disruption budget" not in message)
    return (KubernetesUnavailable if away else wrong)(
        "an answer of the API server", f"{status} {message}"[:500], remedy
    )
