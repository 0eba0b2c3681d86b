"""Which states are kept where more keys come than states are held."""

import pytest

from processors.job import JobProcessor
from processors.node import NodeProcessor
from schedmate_records import (
    BY_NAME,
    EventKind,
    Failure,
    JobEvent,
    LogChunk,
    NodeFinding,
    NodeLogChunk,
    Placement,
    Position,
    Record,
    decode,
)
from streams.runtimes import retention
from streams.runtimes.engine import Engine
from streams.transport import Message, outgoing
from tests.metric_values import value

MOST = 50
XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python, GPU has fallen off the bus."
BUG = ["Traceback (most recent call last):", '  File "t.py", line 1, in <module>', "KeyError: 'labels'"]


class Site:
    """An engine that looks for states to forget after every message; `time` is the broker's."""

    def __init__(self, engine: Engine, time: float = 1e9) -> None:
        self.engine, self.time, self.offsets, self.made = engine, time, dict[str, int](), list[Record]()

    def take(self, topic: str, record: Record, passed: float = 0.0) -> None:
        self.time += passed
        offset = self.offsets[topic] = self.offsets.get(topic, -1) + 1
        sent = outgoing(record)
        results = self.engine.handle([Message(Position(topic, 0, offset), sent.key, sent.value or b"", self.time)])
        for each in results.records:
            if each.topic in ("failures", "node-findings"):
                self.made.append(decode(BY_NAME[each.topic].record, each.value or b""))

    def print(self, job: str, *lines: str, passed: float = 0.0) -> None:
        self.take("job-logs", LogChunk(job=job, lines=list(lines), time=self.time), passed)

    def event(self, job: str, kind: EventKind, scheduler: str = "slurm", **fields: object) -> None:
        event = JobEvent(id=f"{job}/{kind}", job=job, kind=kind, time=self.time, scheduler=scheduler, **fields)  # type: ignore[arg-type]
        self.take("job-events" if scheduler == "slurm" else "pipe-events", event)

    def verdict(self, job: str) -> str:
        return max(
            (one for one in self.made if isinstance(one, Failure) and one.job == job), key=lambda one: one.revision
        ).signature


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setattr(retention, "MOST", MOST)
    return Site(Engine(JobProcessor(), checkpoint_s=0.0, replay_work_s=0.0))


def flood(site: Site, times: int = 4) -> None:
    for number in range(times * MOST):
        site.print(f"made-up-{number}", "x", passed=0.5)


def test_states_of_running_and_of_long_active_jobs_survive_new_keys(site: Site) -> None:
    site.event("reported", EventKind.STARTED)
    site.print("reported", *BUG)
    site.print("hours", "step 1", passed=1.0)
    site.print("hours", *BUG, passed=7200.0)
    for _ in range(retention.LONG_INPUTS - 1):
        site.print("busy", "step 1")
    site.print("busy", *BUG)
    flood(site)
    assert value(site.engine.metrics.states) <= 3 * MOST
    assert value(site.engine.metrics.forgotten) >= MOST
    site.event("reported", EventKind.ENDED, exit_code=1)
    for job in ("hours", "busy"):
        site.event(job, EventKind.ENDED, "pipe", exit_code=1)
    assert [site.verdict(job) for job in ("reported", "hours", "busy")] == ["KeyError"] * 3


def test_more_long_active_keys_than_states_displace_no_reported_job(site: Site) -> None:
    site.event("reported", EventKind.STARTED)
    site.print("reported", *BUG)
    for passed in (0.0, retention.LONG_S):
        site.time += passed
        flood(site)
    flood(site)
    site.event("reported", EventKind.ENDED, exit_code=1)
    assert site.verdict("reported") == "KeyError"
    assert value(site.engine.metrics.states) <= 4 * MOST


def test_a_job_that_ended_is_forgotten_as_before(site: Site) -> None:
    site.event("reported", EventKind.STARTED)
    site.event("reported", EventKind.ENDED, exit_code=0)
    site.print("other", "x", passed=retention.ENDED_S + 1)
    assert value(site.engine.metrics.forgotten) == 1


def test_nodes_that_only_jobs_name_displace_no_node_with_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "MOST", MOST)
    site = Site(Engine(NodeProcessor(), checkpoint_s=0.0, replay_work_s=0.0))
    site.take("placements", Placement(job="7", node="n1", since=site.time, seen=site.time))
    site.take("node-logs", NodeLogChunk(node="n1", lines=["x"], time=site.time))
    for number in range(4 * MOST):
        site.take("placements", Placement(job="8", node=f"made-up-{number}", since=1e9, seen=1e9), passed=0.5)
    assert value(site.engine.metrics.forgotten) >= MOST
    site.take("node-logs", NodeLogChunk(node="n1", lines=[XID], time=site.time))
    assert [(one.job, one.node) for one in site.made if isinstance(one, NodeFinding)] == [("7", "n1")]
