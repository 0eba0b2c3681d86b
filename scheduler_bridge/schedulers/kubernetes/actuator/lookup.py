"""Lookup of a job by id: its newest object, its pods, and its place in a queue of Kueue."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from ...errors import ActuatorError, translated
from ...views import JobView, SchedulerJobState
from ..client.attempts import present_attempt
from ..client.client import KubernetesClient
from ..client.errors import KubernetesNotFound
from ..client.lineage import LINEAGE, JobName
from ..client.objects import Pod
from ..client.workloads.kind import WorkloadObject
from ..client.workloads.kinds import kind_named
from ..client.workloads.kueue import QueuedWorkload
from .jobs import acts_of, state_of, view
from .owners import is_queued, ruler_of
from .settings import KubernetesLimits


@dataclass(frozen=True, slots=True)
class Target:
    """A job at one moment.

    Attributes:
        job: Its id.
        owner: The object that is its present attempt.
        pods: The pods of that.
        queued: Its place in a queue of Kueue; None where it has none (yet).
    """

    job: str
    owner: WorkloadObject
    pods: list[Pod]
    queued: QueuedWorkload | None = None

    @property
    def state(self) -> SchedulerJobState:
        """Its state."""
        return state_of(self.owner, self.pods, self.queued)

    @property
    def acts(self) -> tuple[str, ...]:
        """Keys of what the bridge did to it, the oldest first."""
        return acts_of(self.owner)

    def view(self) -> JobView:
        """Return it as the bridge sees it."""
        return view(self.job, self.owner, self.pods, self.queued)

    def where_to_look(self) -> str:
        """Return what a person may do to see more."""
        owner = self.owner
        plural = f"{owner.PLURAL}.{owner.API_VERSION.partition('/')[0]}"
        return f"see `kubectl -n {owner.metadata.namespace} describe {plural} {owner.metadata.name}`"


class Lookup:
    """Asks for jobs."""

    def __init__(
        self,
        client: KubernetesClient,
        limits: KubernetesLimits,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self.limits = limits
        self.clock = clock
        self.sleep = sleep

    def find(self, job: str) -> Target | None:
        """Return a job; None where there is no object of it (any more)."""
        owner = self._newest(job)
        return self.target_of(job, owner) if owner else None

    def target_of(self, job: str, owner: WorkloadObject) -> Target:
        """Return the job that an object is an attempt of."""
        meta = owner.metadata
        pods = self._client.pods(meta.namespace, f"{owner.NAME_LABEL}={meta.name}")
        return Target(job, owner, pods, self._queued(owner))

    def look(self, job: str, *states: SchedulerJobState) -> Target:
        """Return a job; raises `ActuatorError` where it is in none of these states, or another controller rules it."""
        found = self.find(job)
        if found is None:
            expected = "name jobs as NAMESPACE/NAME, or NAMESPACE/KIND/NAME"
            raise ActuatorError("a job that Kubernetes knows", repr(job[:80]), expected)
        if ruler := ruler_of(found.owner):
            came = f"{job} belongs to {ruler.name}: {ruler.why}"
            raise ActuatorError("a job that no controller of its own restarts", came, "nothing was done")
        if states and found.state not in states:
            raise ActuatorError(f"a job that is {states[0]}", f"{job} is {found.state}", "nothing was done")
        return found

    def watch(self, job: str, reached: Callable[[Target], bool]) -> Target:
        """Look until the job is as wanted, or `stop_timeout` has passed; return the last look."""
        deadline = self.clock() + self.limits.stop_timeout
        while True:
            with translated():
                seen = self.look(job)
            if reached(seen) or self.clock() >= deadline:
                return seen
            self.sleep(self.limits.poll)

    def is_still(self, owner: WorkloadObject) -> bool:
        """True while an object is there, and not about to go."""
        meta = owner.metadata
        try:
            now = self._client.workload(type(owner), meta.namespace, meta.name)
        except KubernetesNotFound:
            return False
        return now.metadata.uid == meta.uid and now.metadata.deletion_timestamp is None

    def _newest(self, job: str) -> WorkloadObject | None:
        """Return the object that is the present attempt of a job."""
        where = JobName.parse(job)
        if where is None or (kind := kind_named(where.word)) is None:
            return None
        found: list[WorkloadObject] = []
        if where.lineage.replace("-", "").replace(".", "").isalnum():  # all that a name, and a selector, may hold
            selector = f"{LINEAGE}={where.lineage}"
            found += self._client.workloads(kind, where.namespace, selector)
        try:
            first = self._client.workload(kind, where.namespace, where.lineage)
            found += [] if first.metadata.labels.get(LINEAGE) else [first]
        except KubernetesNotFound:
            pass
        return max(found, key=_age, default=None)

    def _queued(self, owner: WorkloadObject) -> QueuedWorkload | None:
        if not is_queued(owner):
            return None
        uid = owner.metadata.uid
        found = self._client.workloads(QueuedWorkload, owner.metadata.namespace, f"{QueuedWorkload.UID_LABEL}={uid}")
        mine = [one for one in found if (by := one.metadata.controller) and by.uid == uid]
        return max(mine, key=_creation_time, default=None)


def _creation_time(one: WorkloadObject | QueuedWorkload) -> float:
    made = one.metadata.creation_timestamp
    return made.timestamp() if made else 0.0


def _age(one: WorkloadObject) -> tuple[float, int]:
    return (_creation_time(one), present_attempt(one))
