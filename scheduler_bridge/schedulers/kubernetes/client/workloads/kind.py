"""Protocol of a kind of job."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple, cast

from ..objects import Condition, Meta, Object, Pod, PodSpec


class WorkloadPhase(StrEnum):
    """The phase of a workload. Whether it runs or waits, its pods show."""

    ACTIVE = "active"
    """It runs, waits for a place, or is started again by its own controller."""
    STOPPING = "stopping"
    """Its controller stops it."""
    SUSPENDED = "suspended"
    """It is stopped, and can be resumed."""
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """Its controller has given it up."""
    TERMINATED = "terminated"
    """Somebody ended it for good."""


class PodGroup(NamedTuple):
    """Pods that are alike.

    Attributes:
        pods: How many there are when all of it runs.
        spec: What they are made of.
    """

    pods: int
    spec: PodSpec


class Order(NamedTuple):
    """An object that orders a controller to do something.

    Attributes:
        plural: Its kind's name in paths.
        manifest: The object.
    """

    plural: str
    manifest: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Patch:
    """Patch that suspends, resumes or ends a workload.

    Attributes:
        patch: Fields of the workload that change.
        order: What is created instead; None where the fields suffice.
    """

    patch: Mapping[str, Any] = field(default_factory=dict)
    order: Order | None = None


class WorkloadObject(Object, frozen=True):
    """One object of a kind; a kind derives from this, and defines what differs.

    Attributes:
        API_VERSION: The kind's API group and the version that is read and written, as manifests write them.
        KIND: Its name in manifests.
        PLURAL: Its name in paths.
        WORD: Its name in job ids: `NAMESPACE/WORD/NAME`.
        NAME_LABEL: Label of its pods, which names it.
        SUCCEEDED: Type of its condition after success.
        SUSPEND: The field of `spec` that suspends it, as a path; empty where it has none, and then Kueue does not know the kind either.
        RESTARTS: What its controller starts again by itself, for people.
    """

    API_VERSION: ClassVar[str]
    KIND: ClassVar[str]
    PLURAL: ClassVar[str]
    WORD: ClassVar[str]
    NAME_LABEL: ClassVar[str]
    SUCCEEDED: ClassVar[str] = ""
    SUSPEND: ClassVar[tuple[str, ...]]
    RESTARTS: ClassVar[str]

    metadata: Meta

    @property
    def conditions(self) -> Sequence[Condition]:
        """Conditions of its status."""
        return ()

    @property
    def phase(self) -> WorkloadPhase:
        """Requested phase."""
        if holding(self.conditions, self.SUCCEEDED):
            return WorkloadPhase.SUCCEEDED
        if holding(self.conditions, "Failed"):
            return WorkloadPhase.FAILED
        return WorkloadPhase.SUSPENDED if self.suspended else WorkloadPhase.ACTIVE

    @property
    def why(self) -> Condition | None:
        """The condition that explains why it is over, or suspended; None where there is none."""
        return holding(self.conditions, self.SUCCEEDED, "Failed", "Suspended")

    @property
    def suspended(self) -> bool:
        """True while the field that suspends it is true."""
        return False

    @property
    def groups(self) -> Sequence[PodGroup]:
        """Its pods, by kind."""
        raise NotImplementedError

    @property
    def managed_by(self) -> str:
        """The controller that runs it in another's place; empty for its own."""
        return ""

    @property
    def queue(self) -> str:
        """The queue that it names in its own fields; empty for none."""
        return ""

    @property
    def priority_class(self) -> str:
        """Its priority class."""
        return next((group.spec.priority_class_name for group in self.groups if group.spec.priority_class_name), "")

    def rank(self, pod: Pod) -> int:
        """Return the rank of one of its pods: its place among all of them. 0 where they have no order."""
        raise NotImplementedError

    @property
    def may_resume(self) -> bool:
        """True where its controller starts it again after it was stopped, and does not give it up for that."""
        return True

    def stop(self, key: str) -> Patch:  # noqa: ARG002
        """Return what stops it, so that it can be resumed. `key` names the act."""
        return Patch({"spec": self._suspended(True)})

    def resume(self, key: str) -> Patch:  # noqa: ARG002
        """Return what lets it go again."""
        return Patch({"spec": self._suspended(False)})

    def end(self, key: str) -> Patch:
        """Return what ends it. A kind that has no such order is stopped, and stays so until a person resumes or deletes it."""
        return self.stop(key)

    @classmethod
    def suspend_manifest(cls, manifest: Mapping[str, Any]) -> None:
        """Change a manifest of a kind that can be suspended, so that it waits until somebody resumes it."""
        *outer, last = cls.SUSPEND
        fields = manifest["spec"]
        for name in outer:
            fields = fields.setdefault(name, {})
        fields[last] = True

    @classmethod
    def _suspended(cls, on: bool) -> dict[str, Any]:
        fields: Any = on
        for name in reversed(cls.SUSPEND):
            fields = {name: fields}
        return cast(dict[str, Any], fields)

    @classmethod
    def pod_templates(cls, manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the pod templates within a manifest, to be changed in place."""
        raise NotImplementedError


def holding(conditions: Sequence[Condition], *kinds: str) -> Condition | None:
    """Return the first condition of these types that holds."""
    return next((one for kind in kinds for one in conditions if one.type == kind and one.status == "True"), None)


def index_of(text: str) -> int:
    """Return an index that a controller wrote on a pod; 0 for anything else, since users may write there, too."""
    # Six digits are enough for an index, and keep the number small.
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 6 else 0
