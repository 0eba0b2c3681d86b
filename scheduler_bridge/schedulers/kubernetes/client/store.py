"""The present objects of one kind, kept up to date by list and watch (Kubernetes API concepts: efficient detection of changes)."""

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec
import structlog

from schedmate_records import NOT_JSON

from .client import KubernetesClient
from .errors import KubernetesError, KubernetesNotFound, ResourceVersionExpired
from .objects import Meta, Node, Pod
from .workloads.kind import WorkloadObject

log = structlog.get_logger(__name__)

_T = TypeVar("_T", bound=Node | Pod | WorkloadObject)
_PAUSE = (0.2, 10.0)
_GONE = 410  # HTTP status of an expired resource version


class _Change(msgspec.Struct):
    """One document of a watch: `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`."""

    type: str
    object: msgspec.Raw


class _Bookmark(msgspec.Struct):
    metadata: Meta


class _Status(msgspec.Struct):
    code: int = 0
    message: str = ""


class Informer(Generic[_T]):
    """Current objects by uid. A thread lists once, then watches. Bookmarks update its resource version, and 410 makes it list again.

    Args:
        kind: `Pod`, `Node`, or a kind of workload. There are none of a kind that the cluster does not know.
        changed: Called in that thread after each change.
        namespace: The only namespace to look at; all where empty.
        fields: A field selector, such as `spec.nodeName=gpu-1`; all where empty.
    """

    def __init__(
        self,
        client: KubernetesClient,
        kind: type[_T],
        changed: Callable[[], None],
        namespace: str = "",
        fields: str = "",
    ) -> None:
        self._client, self._changed, self._namespace, self._fields = client, changed, namespace, fields
        self._kind: type[_T] = kind
        self._objects: dict[str, _T] = {}
        self._version = ""
        self._lock = threading.Lock()
        self._listed = threading.Event()
        self.lists = 0
        self.error: KubernetesError | None = None

    def objects(self) -> list[_T] | None:
        """Return what there is now; None until it was listed for the first time."""
        if not self._listed.is_set():
            return None
        with self._lock:
            return list(self._objects.values())

    def run(self, stop: threading.Event) -> None:
        """List and watch until `stop` is set. A watch that is under way ends with the next change, or after some minutes."""
        pause = _PAUSE[0]
        while not stop.is_set():
            try:
                if not self._version:
                    self._list()
                for line in self._client.watch(self._kind, self._version, self._namespace, self._fields):
                    if stop.is_set():
                        return
                    self.apply(line)
                    pause = _PAUSE[0]
                self.error = None
            except ResourceVersionExpired as expired:
                log.info("watch_expired", kind=self._kind.__name__, error=str(expired))
                self._version = ""
            except KubernetesNotFound:
                self._clear_unknown_kind()
                # Ask every 30 s for a kind that the cluster does not know: it may be installed.
                stop.wait(30.0)
            except KubernetesError as error:
                self.error = error
                self._changed()
                stop.wait(pause)
                pause = min(2 * pause, _PAUSE[1])

    def apply(self, line: bytes) -> None:
        """Take in one document of a watch.

        Raises:
            ResourceVersionExpired: The error is that the resource version is too old.
            KubernetesError: It is another error of the server, or no document of a watch.
        """
        if not line.strip():
            return
        try:
            change = msgspec.json.decode(line, type=_Change)
            if change.type == "ERROR":
                self._fail(msgspec.json.decode(change.object, type=_Status))
            found: Any = msgspec.json.decode(change.object, type=_Bookmark if change.type == "BOOKMARK" else self._kind)
        except NOT_JSON as error:
            raise KubernetesError("a document of a watch", str(error)[:300], "the watch is begun again") from error
        meta: Meta = found.metadata
        with self._lock:
            self._version = meta.resource_version or self._version
            if change.type == "DELETED":
                self._objects.pop(meta.uid, None)
            elif change.type != "BOOKMARK":
                self._objects[meta.uid] = found
        if change.type != "BOOKMARK":
            self._changed()

    def _fail(self, status: _Status) -> None:
        wrong = ResourceVersionExpired if status.code == _GONE else KubernetesError
        self._version = "" if status.code == _GONE else self._version
        raise wrong("a change", f"{status.code} {status.message}"[:300], "the list is read again")

    def _clear_unknown_kind(self) -> None:
        """Take in that the cluster does not know the kind (any more)."""
        with self._lock:
            self._objects, self._version = {}, ""
        self.error = None
        self._listed.set()
        self._changed()

    def _list(self) -> None:
        found, version = self._client.list_all(self._kind, self._namespace, self._fields)
        with self._lock:
            self._objects = {one.metadata.uid: one for one in found}
            self._version = version
            self.lists += 1
        self.error = None
        self._listed.set()
        self._changed()
