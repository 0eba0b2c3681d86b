"""Watches Ray: each look compares its list of jobs with what was reported."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from schedmate_records import JobEvent
from schedmate_records.metrics import MetricFactory
from streams.transport import Producer

from ...job_watcher import JobWatcher, JobWatcherMetrics
from ..client.client import RayClient
from ..client.errors import RayError
from ..client.objects import SUPERVISOR_PREFIX, RayActor, RayJob, RayNode
from .changes import RayPlacement, ReportedJob, changes


class RayWatcherMetrics(JobWatcherMetrics):
    """Metrics of the watcher."""

    def __init__(self) -> None:
        super().__init__("ray", "Ray")
        make = MetricFactory("schedmate_ray_watcher")
        self.nodes = make.gauge("nodes", "Nodes that are alive.")


class RayWatcher(JobWatcher[ReportedJob]):
    """Turns what changes in Ray's list of jobs into job events.

    Drivers that were not submitted as jobs are not reported. Jobs that came and were deleted while no watcher ran are lost to it.

    Args:
        connect: Connects to the broker; called in another thread.
        checkpoint: The file; its directory is created.
        memory: Bytes of events that may wait.
    """

    metrics: RayWatcherMetrics
    known, scheduler, away = ReportedJob, "Ray", RayError

    def __init__(
        self,
        connect: Callable[[], Producer],
        checkpoint: Path,
        client: RayClient,
        *,
        clock: Callable[[], float] = time.time,
        memory: int = 8 << 20,
    ) -> None:
        super().__init__(connect, checkpoint, RayWatcherMetrics(), clock, memory)
        self._client = client

    def look(self, known: Mapping[str, ReportedJob], now: float) -> tuple[list[JobEvent], dict[str, ReportedJob], int]:
        """Compare Ray's jobs with what was reported.

        Raises:
            RayError: Ray does not answer, or refuses.
        """
        jobs = self._client.jobs()
        nodes = {node.node_id: node for node in self._client.nodes()}
        self.metrics.nodes.set(sum(node.alive for node in nodes.values()))
        events, after = changes(known, jobs, partial(_locate, self._client, nodes), now)
        return events, after, len(jobs)


def _locate(client: RayClient, nodes: Mapping[str, RayNode], job: RayJob) -> RayPlacement:
    """Return where a job's driver and actors are, or were when it ended."""
    actors = client.actors(job_id=job.job_id) if job.job_id else []
    if not job.is_over:
        actors = [actor for actor in actors if actor.state != "DEAD"]
    supervisors = client.actors(name=SUPERVISOR_PREFIX + job.id)
    ids = {job.driver_node_id or "", *(actor.node_id or "" for actor in actors)}
    driver = nodes.get(job.driver_node_id or "")
    return RayPlacement(
        nodes=sorted({nodes[node_id].node_name for node_id in ids if node_id in nodes}),
        gpus=_gpus([*actors, *supervisors]),
        whole=bool(actors) and all(actor.node_id for actor in actors),
        driver_lives=driver is None or driver.alive,
    )


def _gpus(actors: list[RayActor]) -> float | None:
    """Return the GPUs that actors hold; None where they hold none. For a placement group the amount is under the group's name."""
    held = 0.0
    for actor in actors:
        amounts = actor.required_resources or {}
        in_group = f"GPU_group_{actor.placement_group_id}"
        held += amounts.get("GPU", 0.0) or amounts.get(in_group, 0.0)
    return held or None
