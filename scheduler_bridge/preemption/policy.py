"""A job of a high class has waited for too long → jobs of an evictable class that hold what it needs go, those that lose least."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from processors.eviction import EvictionPlan
from processors.eviction import least_loss as least_loss_of
from schedmate_records import Action, Checkpoint, Decision, JobReference, counted, decision_id

from ..schedulers import Need, Queue, RunningJob, SchedulerJobState, SchedulerNodeState, WaitingJob
from ..selectors import matches_any
from ..settings import BridgeSettings
from .losses import Loss, loss_of

VictimChoice = Callable[[Need, Queue, Collection[str], Mapping[str, float]], EvictionPlan | None]
"""A choice of victims: what a job needs, the queue, the nodes that it may use, and what each job that may be evicted would lose.

Returns None where evicting all of them would not make room.
"""


POLICY = "evict-for-waiting-job"


def least_loss(need: Need, queue: Queue, allowed: Collection[str], losses: Mapping[str, float]) -> EvictionPlan | None:
    """Choose those that lose least. See `eviction.least_loss`, which the simulator asks too.

    Args:
        need: What must fit.
        queue: Jobs and nodes.
        allowed: Names of the nodes that may be used; those that are required among them.
        losses: What each job that may be evicted would lose, by id.
    """
    nodes = {each.view.node: each for each in queue.nodes if each.view.node in allowed}
    return least_loss_of(need, nodes, {job.view.job: job.held for job in queue.running}, losses)


@dataclass(frozen=True, slots=True)
class PreemptionFacts:
    """Facts of the bridge in addition to the queue.

    Attributes:
        saves: The newest durable checkpoint of each job.
        evictions: How often each job was evicted within a day.
        cooling: Jobs that were evicted a short while ago, or that have an open decision: they are not evicted, and no job is evicted for
            them.
        served: `served_id` of jobs for which others were evicted a short while ago, or shall be.
        room: Evictions that hourly limits leave to each user; for users who are not named, `room_for_others`.
        room_for_others: See `room`.
    """

    saves: Mapping[str, Checkpoint] = field(default_factory=dict)
    evictions: Mapping[str, int] = field(default_factory=dict)
    cooling: Collection[str] = ()
    served: Collection[str] = ()
    room: Mapping[str, int] = field(default_factory=dict)
    room_for_others: int = 0


def served_id(job: str, attempt: int) -> str:
    """Return what names the wait of one attempt of a job; `Decision.cause_id` of the evictions that end it."""
    return f"{job}/{attempt}"


def decide(
    queue: Queue, facts: PreemptionFacts, settings: BridgeSettings, now: float, choose: VictimChoice = least_loss
) -> list[Decision]:
    """Return the evictions that let jobs of a high class start; all that one of them needs, or none.

    Args:
        queue: What waits and runs now.
        facts: What was done, and what jobs saved.
        settings: The classes, and how long one may wait.
        now: Seconds since 1970.
        choose: Chooses the victims.
    """
    decisions: list[Decision] = []
    for waiting in sorted(_waited_too_long(queue, facts, settings, now), key=_turn):
        losses = {
            job.view.job: loss_of(job, facts.saves, facts.evictions.get(job.view.job, 0), now)
            for job in _evictable(queue, facts, settings)
        }
        weighed = {job: loss.weighed for job, loss in losses.items()}
        placement = choose(waiting.need, queue, _allowed(waiting, queue), weighed)
        if placement is None or not placement.victims:
            continue  # it does not fit even so; or it fits, and the scheduler will start it
        if len(placement.victims) > facts.room.get(waiting.view.user, facts.room_for_others):
            continue  # to evict half of them would not help the job
        evicted = [job for job in queue.running if job.view.job in placement.victims]
        decisions += [_evict(job, losses[job.view.job], waiting, settings, now) for job in evicted]
        queue = _afterwards(queue, placement)
    return decisions


def _waited_too_long(
    queue: Queue, facts: PreemptionFacts, settings: BridgeSettings, now: float
) -> Iterator[WaitingJob]:
    for waiting in queue.waiting:
        view = waiting.view
        known = view.job in facts.cooling or served_id(view.job, view.attempt) in facts.served
        late = now - waiting.since >= settings.evict_wait_seconds
        if waiting.blocked and late and not known and matches_any(settings.evict_for, view):
            yield waiting


def _turn(waiting: WaitingJob) -> tuple[float, float, str]:
    return -(waiting.view.priority or 0), waiting.since, waiting.view.job


def _evictable(queue: Queue, facts: PreemptionFacts, settings: BridgeSettings) -> Iterator[RunningJob]:
    for job in queue.running:
        view = job.view
        free = view.state is SchedulerJobState.RUNNING and job.requeueable and view.job not in facts.cooling
        if free and matches_any(settings.evictable, view) and not matches_any(settings.evict_for, view):
            yield job


def _allowed(waiting: WaitingJob, queue: Queue) -> list[str]:
    """Return the nodes where the scheduler may start a job."""
    pools = set(waiting.view.partition.split(",")) if waiting.view.partition else set()
    return [
        node.view.node
        for node in queue.nodes
        if node.view.state is SchedulerNodeState.UP
        and node.view.node not in waiting.view.excluded
        and (not pools or not node.view.pools or pools & set(node.view.pools))
    ]


def _evict(job: RunningJob, loss: Loss, waiting: WaitingJob, settings: BridgeSettings, now: float) -> Decision:
    view, gains = job.view, waiting.view
    saved = loss.checkpoint
    since = "since its last durable checkpoint" if saved else "since its start; it reports no checkpoint"
    gpus = counted(job.gpus, "GPU")
    # The eviction must begin within 300 s: the queue changes.
    return Decision(
        id=decision_id(
            Action.EVICT, JobReference(view.job, view.incarnation), view.attempt, f"{gains.job}@{gains.attempt}"
        ),
        action=Action.EVICT,
        job=view.job,
        attempt=view.attempt,
        incarnation=view.incarnation,
        time=now,
        expires=now + min(300.0, settings.ttl_seconds),
        mode=settings.mode(Action.EVICT),
        policy=POLICY,
        reason=(
            f"Job {gains.job} has waited for {now - waiting.since:.0f} s and lacks only a place. "
            f"Job {view.job} would lose the least there: {loss.unsaved_s:.0f} s of work on {gpus} {since}."
        ),
        cause=gains.job,
        cause_id=served_id(gains.job, gains.attempt),
        grace_s=min(settings.evict_grace_seconds, settings.max_grace_seconds),
        checkpoint=saved.path if saved else "",
        beneficiary=gains.job,
        evidence=saved.evidence if saved else [],
    )


def _afterwards(queue: Queue, placement: EvictionPlan) -> Queue:
    """Return the queue without the victims; nodes with room made are kept for the jobs that it was made for."""
    return replace(
        queue,
        running=tuple(job for job in queue.running if job.view.job not in placement.victims),
        nodes=tuple(node for node in queue.nodes if node.view.node not in placement.nodes),
    )
