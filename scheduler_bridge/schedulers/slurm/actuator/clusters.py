"""Several Slurm clusters as one actuator: each job goes by its cluster's name, each node to the cluster that has it."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from schedmate_records import Action
from schedmate_records.cluster_names import qualified, qualified_all

from ....node_check import NodeCheck
from ...base import Actuator
from ...errors import ActuatorError, SchedulerAway
from ...queue import Capacity, Queue, RunningJob, WaitingJob
from ...views import JobView, NodeView
from ..client import SlurmError
from ..client.cluster_names import split
from .actuator import SlurmActuator


class SlurmClusters(Actuator):
    """Several clusters as an `Actuator`.

    A job of the local cluster is `4711`, of another one `beta/4711`; so are partitions. Nodes go by their names alone, as their
    logs do: a node whose name two clusters have is left to people.

    Args:
        clusters: An actuator for each, by name; `LOCAL` is the one of slurm.conf.
    """

    name = "slurm"

    def __init__(self, clusters: Mapping[str, SlurmActuator], clock: Callable[[], float] = time.monotonic) -> None:
        self._clusters = dict(clusters)
        self._clock = clock
        self._away: dict[str, tuple[float, SchedulerAway]] = {}
        self._nodes: dict[str, frozenset[str]] = {}

    def supports(self, action: Action) -> bool:
        """Slurm can do all that decisions ask for."""
        return action in Action

    def can_signal(self) -> bool:
        """Slurm can."""
        return True

    def job(self, job: str) -> JobView | None:
        """Return the state of a job in its cluster."""
        with self._locate(job) as (cluster, own, actuator):
            seen = actuator.job(own)
            return _job_of(cluster, seen) if seen else None

    def nodes(self, node: str = "", /) -> list[NodeView]:
        """Return the nodes of the cluster that has `node`; of all clusters where none is named."""
        if not node:
            return [view for cluster in self._clusters for view in self._nodes_of(cluster)]
        cluster = self._find_cluster(node)
        return [] if cluster is None else self._nodes_of(cluster)

    def queue(self) -> Queue:
        """Return what waits and runs in all clusters that answer. No job is evicted for a job of another cluster: the nodes differ."""
        queues, away = [], None
        for cluster in self._clusters:
            try:
                with self._asking(cluster) as actuator:
                    queues.append(_queue_of(cluster, actuator.queue()))
            except SchedulerAway as error:
                away = error
        if away and not queues:
            raise away
        return Queue(
            tuple(job for queue in queues for job in queue.waiting),
            tuple(job for queue in queues for job in queue.running),
            tuple(node for queue in queues for node in queue.nodes),
        )

    def restart(self, job: str, exclude_nodes: tuple[str, ...], key: str, checkpoint: str = "") -> JobView:
        """Put a failed job back in its cluster's queue."""
        with self._locate(job) as (cluster, own, actuator):
            return _job_of(cluster, actuator.restart(own, exclude_nodes, key, checkpoint))

    def cancel_packing(self, job: str, key: str) -> JobView:
        """Requeue a packed job, never to be packed again."""
        with self._locate(job) as (cluster, own, actuator):
            return _job_of(cluster, actuator.cancel_packing(own, key))

    def evict(self, job: str, key: str, checkpoint: str = "", delay: float = 0.0) -> JobView:
        """Requeue a running job."""
        with self._locate(job) as (cluster, own, actuator):
            return _job_of(cluster, actuator.evict(own, key, checkpoint, delay))

    def signal(self, job: str, signal: str) -> None:
        """Send a signal to the steps of a running job."""
        with self._locate(job) as (_, own, actuator):
            actuator.signal(own, signal)

    def cancel(self, job: str, key: str) -> JobView:
        """Cancel a running job."""
        with self._locate(job) as (cluster, own, actuator):
            return _job_of(cluster, actuator.cancel(own, key))

    def hold(self, job: str, key: str) -> JobView:
        """Hold a job that waits."""
        with self._locate(job) as (cluster, own, actuator):
            return _job_of(cluster, actuator.hold(own, key))

    def release(self, job: str, key: str) -> JobView:
        """Release a held job."""
        with self._locate(job) as (cluster, own, actuator):
            return _job_of(cluster, actuator.release(own, key))

    def drain(self, node: str, reason: str, key: str) -> NodeView:
        """Drain a node in the one cluster that has it."""
        cluster = self._require_cluster(node)
        with self._asking(cluster) as actuator:
            return _node_of(cluster, actuator.drain(node, reason, key))

    def undrain(self, node: str, key: str) -> NodeView:
        """Resume a node in the one cluster that has it."""
        cluster = self._require_cluster(node)
        with self._asking(cluster) as actuator:
            return _node_of(cluster, actuator.undrain(node, key))

    def check(self, node: str) -> NodeCheck | None:
        """Run the operator's check on a node of the one cluster that has it."""
        try:
            return self._clusters[self._require_cluster(node)].check(node)
        except ActuatorError as error:
            return NodeCheck.from_output(None, str(error))

    def stacks(self, job: str) -> str:
        """Return what the operator's command prints inside a job."""
        try:
            with self._locate(job) as (_, own, actuator):
                return actuator.stacks(own)
        except ActuatorError as error:
            return str(error)

    def describe(self, node: str) -> str:
        """Return what Slurm shows of a node."""
        with self._asking(self._require_cluster(node)) as actuator:
            return actuator.describe(node)

    @contextmanager
    def _locate(self, job: str) -> Iterator[tuple[str, str, SlurmActuator]]:
        """Give a job's cluster, its id there, and that cluster's actuator."""
        try:
            cluster, own = split(job)
        except SlurmError as error:
            raise ActuatorError(error.expected, error.came, error.remedy) from error
        with self._asking(cluster) as actuator:
            yield cluster, own, actuator

    @contextmanager
    def _asking(self, cluster: str) -> Iterator[SlurmActuator]:
        """Give the actuator of a cluster, unless it did not answer just now; its errors then name the cluster."""
        if cluster not in self._clusters:
            raise ActuatorError("a cluster of `slurm.clusters`", repr(cluster[:40]), "nothing was done")
        since, error = self._away.get(cluster, (0.0, None))
        # A cluster that did not answer is not asked for 5 s: requests to the others do not wait for its time limits.
        if error is not None and self._clock() < since + 5.0:
            raise error
        try:
            yield self._clusters[cluster]
        except ActuatorError as error:
            came = f"{error.came} (cluster {cluster})" if cluster else error.came
            told = type(error)(error.expected, came, error.remedy)
            if isinstance(told, SchedulerAway):
                self._away[cluster] = (self._clock(), told)
            raise told from error
        self._away.pop(cluster, None)

    def _nodes_of(self, cluster: str) -> list[NodeView]:
        with self._asking(cluster) as actuator:
            views = [_node_of(cluster, view) for view in actuator.nodes()]
        self._nodes[cluster] = frozenset(view.node for view in views)
        return views

    def _find_cluster(self, node: str) -> str | None:
        """Return the one cluster that has a node; None where none has it. Of one that is away, what it had last counts.

        Raises:
            ActuatorError: Several have it.
            SchedulerAway: None has it that answers, and one does not answer.
        """
        having, away = [], None
        for cluster in self._clusters:
            try:
                names = {view.node for view in self._nodes_of(cluster)}
            except SchedulerAway as error:
                names, away = set(self._nodes.get(cluster, ())), error
            if node in names:
                having.append(cluster)
        if len(having) > 1:
            came = " and ".join(cluster or "the local one" for cluster in having)
            raise ActuatorError(f"one cluster with a node {node[:40]!r}", came, "nothing was done; act by hand")
        if away and not having:
            raise away
        return having[0] if having else None

    def _require_cluster(self, node: str) -> str:
        cluster = self._find_cluster(node)
        if cluster is None:
            raise ActuatorError("a node that Slurm knows", repr(node[:40]), "name nodes as sinfo prints them")
        return cluster


def _job_of(cluster: str, seen: JobView) -> JobView:
    """Return a job of a cluster."""
    return replace(
        seen,
        job=qualified(cluster, seen.job),
        successor=qualified(cluster, seen.successor),
        dependents=tuple(qualified(cluster, each) for each in seen.dependents),
        partition=qualified_all(cluster, seen.partition),
    )


def _node_of(cluster: str, seen: NodeView) -> NodeView:
    """Return a node of a cluster. Its own name stays: its logs use that name."""
    return replace(seen, pools=tuple(qualified(cluster, pool) for pool in seen.pools))


def _queue_of(cluster: str, queue: Queue) -> Queue:
    """Return a cluster's queue. Nodes of one name in two clusters must not be taken for one there.

    Nodes of no partition are left out: Slurm starts nothing there, and it is not known whose jobs they would be for.
    """
    return Queue(
        tuple(_waiting(cluster, each) for each in queue.waiting),
        tuple(_running(cluster, each) for each in queue.running),
        tuple(_capacity(cluster, each) for each in queue.nodes if each.view.pools),
    )


def _waiting(cluster: str, job: WaitingJob) -> WaitingJob:
    required = tuple(qualified(cluster, node) for node in job.need.required)
    excluded = tuple(qualified(cluster, node) for node in job.view.excluded)
    view = replace(_job_of(cluster, job.view), excluded=excluded)
    return replace(job, view=view, need=replace(job.need, required=required))


def _running(cluster: str, job: RunningJob) -> RunningJob:
    held = {qualified(cluster, node): share for node, share in job.held.items()}
    return replace(job, view=_job_of(cluster, job.view), held=held)


def _capacity(cluster: str, node: Capacity) -> Capacity:
    view = _node_of(cluster, node.view)
    return replace(node, view=replace(view, node=qualified(cluster, view.node)))
