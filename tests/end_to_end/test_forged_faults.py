"""A user prints every line that the catalogue knows into their own logs for an hour: it moves their own jobs alone, within their share."""

from processors.diagnose import load
from processors.job import JobProcessor
from processors.node import NodeProcessor
from schedmate_records import Action, EventKind, Failure, JobEvent, LogChunk, Mode, Outcome, decode
from scheduler_bridge import Bridge, BridgeSettings
from scheduler_bridge.ledger import HOUR
from scheduler_bridge.schedulers import NodeView, SchedulerNodeState
from streams.memory import MemoryBroker
from streams.runtimes.engine import Engine
from streams.runtimes.local_worker import LocalWorker
from streams.transport import outgoing
from tests.scheduler_bridge.findings import NOW, Written
from tests.scheduler_bridge.test_limits import Cluster as FailedJobs

SETTINGS = BridgeSettings(modes=dict.fromkeys(Action, Mode.ACT))
LINES = [one.example for one in load()]
STEPS = [f"step {step} | loss {1 / step:.3f} | step_time 0.25 s" for step in range(1, 21)]
NODE = "n1"


class Cluster(FailedJobs):
    """Forty nodes besides."""

    def nodes(self, _beside: str = "", /) -> list[NodeView]:
        return [NodeView(f"n{number}", SchedulerNodeState.UP) for number in range(1, 41)]


def verdicts(jobs: dict[str, list[str]]) -> list[Failure]:
    """Return what workers say of jobs that print these lines and fail, one after the other within the hour."""
    broker = MemoryBroker(partitions=1)
    for number, (job, lines) in enumerate(jobs.items()):
        time = NOW + number * HOUR / len(jobs)
        began = JobEvent(id=f"{job}/s", job=job, kind=EventKind.STARTED, time=time - 60, nodes=[NODE])
        over = JobEvent(
            id=f"{job}/e", job=job, kind=EventKind.ENDED, time=time, nodes=[NODE], exit_code=1, state="FAILED"
        )
        printed = LogChunk(
            job=job, node=NODE, producer="p", lines=[*STEPS, *lines], time=time, first_line=1, first_piece=1
        )
        for record in (began, printed, over):
            broker.append(outgoing(record))
    worker = LocalWorker(broker, [Engine(JobProcessor()), Engine(NodeProcessor())])
    while worker.step():
        pass
    return sorted((decode(Failure, each.value) for each in broker.read("failures")), key=lambda one: one.time)


def test_no_node_is_drained_and_restarts_stay_within_the_users_share() -> None:
    jobs = {f"mallory/{number}": [line] for number, line in enumerate(LINES)} | {"mallory/all": LINES}
    said = verdicts(jobs)
    infrastructure = {one.job for one in said if one.error_type == "infrastructure"}
    assert len(infrastructure) > 100, "most of what is printed would be a fault, were it true"
    assert not any(one.node_evidence for one in said)
    cluster, written, now = Cluster(), Written(), NOW
    bridge = Bridge(cluster, SETTINGS, written, lambda: now)
    for one in said:
        now = one.time
        bridge.accept(one)
        bridge.advance()
    for _ in range(12):  # what waits for the limit goes on
        now += 600
        bridge.advance()
    assert {decision.action for decision in written.decisions} == {Action.RESTART}
    assert {node for decision in written.decisions for node in decision.exclude_nodes} == {NODE}
    assert max(cluster.attempts.values()) == 1
    began = sorted(result.time for result in written.results if result.outcome is Outcome.STARTED)
    assert len(began) >= SETTINGS.actions_per_user_hour
    share = SETTINGS.actions_per_user_hour
    assert all(later - sooner >= HOUR for sooner, later in zip(began, began[share:], strict=False))
    assert {result.node for result in written.results} == {""}, "nothing is held against the node"
