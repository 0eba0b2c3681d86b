"""Pods, Nodes and the parts of jobs that all kinds share, as far as they are read here (Kubernetes API reference).

What the API server sends beyond these fields is left out when it is decoded.
"""

from datetime import datetime
from typing import Any, ClassVar

from msgspec import Struct, field


class Object(Struct, frozen=True, kw_only=True, rename="camel"):
    """Fields are spelled as Kubernetes spells them: `backoffLimit`."""


class OwnerReference(Object, frozen=True):
    """Owner of an object."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class Meta(Object, frozen=True):
    """Identity of an object, and what is noted on it."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: list[OwnerReference] = []
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None

    @property
    def controller(self) -> OwnerReference | None:
        """The controller that made it, where there is one."""
        return next((owner for owner in self.owner_references if owner.controller), None)


class Condition(Object, frozen=True):
    """One condition; it holds where `status` is `True`."""

    type: str
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None


class NodeRequirement(Object, frozen=True):
    """A requirement on a field or a label of a node: `metadata.name NotIn [n1]`."""

    key: str = ""
    operator: str = ""
    values: list[str] = []


class NodeSelectorTerm(Object, frozen=True):
    """One of several alternatives; all its requirements must hold."""

    match_fields: list[NodeRequirement] = []
    match_expressions: list[NodeRequirement] = []


class NodeSelector(Object, frozen=True):
    """Alternatives, one of which must hold."""

    node_selector_terms: list[NodeSelectorTerm] = []


class NodeAffinity(Object, frozen=True):
    """Node affinity of a pod."""

    required: NodeSelector | None = field(name="requiredDuringSchedulingIgnoredDuringExecution", default=None)


class PodAffinity(Object, frozen=True):
    """Pods with which a pod must, or must not, share a node."""

    required: list[dict[str, Any]] = field(name="requiredDuringSchedulingIgnoredDuringExecution", default=[])


class Affinity(Object, frozen=True):
    """Rules of placement."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Toleration(Object, frozen=True):
    """A taint that a pod bears. An empty key, or effect, is any."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


class Spread(Object, frozen=True):
    """Topology spread constraint of pods."""

    when_unsatisfiable: str = ""


class Resources(Object, frozen=True):
    """Requests and limits of a container, as quantities: `{"nvidia.com/gpu": "8"}`."""

    requests: dict[str, str] = {}
    limits: dict[str, str] = {}


class Container(Object, frozen=True):
    """One container of a pod."""

    name: str = ""
    command: list[str] = []
    args: list[str] = []
    working_dir: str = ""
    resources: Resources = Resources()


class PodSpec(Object, frozen=True):
    """Specification of a pod."""

    containers: list[Container] = []
    node_name: str = ""
    node_selector: dict[str, str] = {}
    affinity: Affinity | None = None
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str = ""
    tolerations: list[Toleration] = []
    topology_spread_constraints: list[Spread] = []


class Terminated(Object, frozen=True):
    """Termination of a container."""

    exit_code: int = 0
    signal: int = 0
    reason: str = ""
    finished_at: datetime | None = None


class ContainerState(Object, frozen=True):
    """The state of a container; null where it is another one."""

    terminated: Terminated | None = None


class ContainerStatus(Object, frozen=True):
    """The kubelet's report about a container."""

    state: ContainerState = ContainerState()


class PodStatus(Object, frozen=True):
    """Status of a pod."""

    phase: str = ""
    start_time: datetime | None = None
    conditions: list[Condition] = []
    container_statuses: list[ContainerStatus] = []


class Pod(Object, frozen=True):
    """A pod."""

    API_VERSION: ClassVar[str] = "v1"
    PLURAL: ClassVar[str] = "pods"

    metadata: Meta
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def is_over(self) -> bool:
        """True once its containers have ended."""
        return self.status.phase in ("Succeeded", "Failed")


class OnPodCondition(Object, frozen=True):
    """A condition of a pod that a rule refers to."""

    type: str = ""


class PodFailureRule(Object, frozen=True):
    """Action of the owner for a failed pod: `FailJob`, `FailIndex`, `Ignore` or `Count`."""

    action: str = ""
    on_pod_conditions: list[OnPodCondition] = []


class PodFailurePolicy(Object, frozen=True):
    """Rules; the first that fits counts."""

    rules: list[PodFailureRule] = []


class PodTemplate(Object, frozen=True):
    """Template of a Job's pods."""

    spec: PodSpec = PodSpec()


class JobSpec(Object, frozen=True):
    """Specification of a Job."""

    parallelism: int = 1
    completions: int | None = None
    completion_mode: str = ""
    suspend: bool = False
    backoff_limit: int = 6
    active_deadline_seconds: int | None = None
    managed_by: str = ""
    pod_failure_policy: PodFailurePolicy | None = None
    template: PodTemplate = PodTemplate()


class Taint(Object, frozen=True, omit_defaults=True):
    """Taint of a node."""

    key: str
    value: str = ""
    effect: str = ""
    time_added: str = ""


class NodeSpec(Object, frozen=True):
    """Specification of a node."""

    unschedulable: bool = False
    taints: list[Taint] = []


class NodeStatus(Object, frozen=True):
    """The kubelet's report about its node."""

    allocatable: dict[str, str] = {}
    conditions: list[Condition] = []


class Node(Object, frozen=True):
    """A node."""

    KIND: ClassVar[str] = "Node"
    API_VERSION: ClassVar[str] = "v1"
    PLURAL: ClassVar[str] = "nodes"

    metadata: Meta
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def ready(self) -> bool:
        """True where its kubelet reports that it takes pods."""
        return any(one.type == "Ready" and one.status == "True" for one in self.status.conditions)


class ListMeta(Object, frozen=True):
    """The resource version of a list."""

    resource_version: str = ""
    continue_: str = field(name="continue", default="")
