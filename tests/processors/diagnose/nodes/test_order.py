"""Job and node together: the last verdict does not depend on the order in which topics are read."""

from collections import deque
from collections.abc import Sequence

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from processors.diagnose.stage import Diagnosis
from processors.job import JobProcessor
from processors.node import NodeProcessor
from processors.state import JobState
from schedmate_records import (
    BY_RECORD,
    Component,
    ErrorType,
    EventKind,
    Failure,
    GpuProcess,
    GpuSample,
    JobEvent,
    LogChunk,
    NodeLogChunk,
    Placement,
    Position,
    Record,
)

JOB, NODE = JobProcessor(), NodeProcessor(JobProcessor().stage(Diagnosis).handler.signatures)
T = 10_000.0
XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python, GPU has fallen off the bus."
PROGRAM_FAULT = "NVRM: Xid (PCI:0000:3b:00): 31, pid=4242, name=python, Ch 00000008"
NCCL = (
    "[rank0]:[E ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=81, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600013 milliseconds before timing out."
)


BUG = ["Traceback (most recent call last):", '  File "t.py", line 3, in <module>']
ELSEWHERE = Placement(job="18", node="n1", since=T - 900, seen=T - 900)


def progress(first: int) -> list[str]:
    return [f"step {step} | loss {1 / step:.4f} | step_time 0.25 s" for step in range(first, first + 20)]


def chunk(lines: Sequence[str], first: int, time: float) -> LogChunk:
    return LogChunk(
        job="17", node="n1", producer="p", lines=list(lines), time=time, first_line=first, first_piece=first
    )


def ended(code: int = 1) -> JobEvent:
    return JobEvent(
        id="end", job="17", kind=EventKind.ENDED, time=T + 20, nodes=["n1"], exit_code=code, state="FAILED" if code else "COMPLETED"
    )  # fmt: skip


def started() -> JobEvent:
    return JobEvent(id="start", job="17", kind=EventKind.STARTED, time=T - 1000, nodes=["n1"])


def kernel(*lines: str, time: float = T - 300) -> NodeLogChunk:
    return NodeLogChunk(node="n1", producer="k", lines=list(lines), time=time, first_line=1, first_piece=1)


def samples(broken: bool = False) -> list[GpuSample]:
    made = []
    for time in range(int(T - 400), int(T + 200), 20):
        errors = 3 if broken and time > T - 100 else 0
        made.append(
            GpuSample(
                id="s", node="n1", gpu=0, time=float(time), ecc_uncorrected=errors, processes=[GpuProcess(pid=1, job="17")]
            )
        )  # fmt: skip
    return made


def outcome(topics: Sequence[Sequence[Record]], choose: Sequence[int]) -> Failure | None:
    """Read `topics` in an order of choice, feeding back what the processors make, and return the verdict in force."""
    queues: dict[str, deque[Record]] = {BY_RECORD[type(each[0])].name: deque(each) for each in topics if each}
    job, node, offsets, verdict = JOB.fresh("17"), NODE.fresh("n1"), dict.fromkeys(BY_RECORD.values(), 0), None
    choices = iter([*choose, *[0] * 10_000])
    while ready := sorted(name for name, queue in queues.items() if queue):
        name = ready[next(choices) % len(ready)]
        record = queues[name].popleft()
        topic = BY_RECORD[type(record)]
        position = Position(name, 0, offsets[topic])
        offsets[topic] += 1
        if name in NODE.inputs:
            made = NODE.process(node, position, record)
        else:
            made = JOB.process(job, position, record)
            job = msgspec.json.decode(msgspec.json.encode(job), type=JobState)
        for each in made:
            if isinstance(each, Failure):
                assert verdict is None or each.revision > verdict.revision
                verdict = each
            elif (queue := BY_RECORD[type(each)].name) in {*NODE.inputs, "node-findings"}:
                queues.setdefault(queue, deque()).append(each)
    return verdict


def content(verdict: Failure | None) -> bytes:
    """Return what a verdict says, without its place in the sequence of revisions and how far the log was read by then."""
    return msgspec.json.encode(verdict and msgspec.structs.replace(verdict, revision=0, step=None, epoch=None))


CASES: dict[str, list[list[Record]]] = {
    "nothing but a fatal Xid": [[chunk(progress(1), 1, T - 20)], [started(), ended()], [kernel(XID)]],
    "a collective that timed out": [
        [chunk(progress(1), 1, T - 620), chunk([NCCL], 21, T)],
        [started(), ended()],
        [kernel("usb 1-1: new device", XID, PROGRAM_FAULT)],
        list(samples()),
    ],
    "a bug beside a broken GPU": [
        [chunk([*progress(1), *BUG, "KeyError: 'x'"], 1, T)],
        [started(), ended()],
        [kernel(XID, XID)],
        list(samples(broken=True)),
    ],
    "a GPU's error on a node with another job": [
        [chunk([*progress(1), *BUG, "RuntimeError: CUDA error: unknown"], 1, T)],
        [started(), ended()],
        [kernel(XID, XID)],
        [ELSEWHERE, msgspec.structs.replace(ELSEWHERE, until=T - 800)],
    ],
    "a GPU's error beside another job": [
        [chunk([*progress(1), *BUG, "RuntimeError: CUDA error: unknown"], 1, T)],
        [started(), ended()],
        [kernel(XID, XID)],
        [ELSEWHERE],
    ],
    "all well": [[chunk(progress(1), 1, T)], [started(), ended(0)], [kernel(XID, PROGRAM_FAULT)], list(samples())],
}  # fmt: skip


@given(st.sampled_from(sorted(CASES)), st.lists(st.integers(0, 3), max_size=50))
def test_the_last_verdict_does_not_depend_on_the_order_of_topics(name: str, choose: list[int]) -> None:
    assert content(outcome(CASES[name], choose)) == content(outcome(CASES[name], []))


def test_evidence_alone_makes_the_verdict_of_a_job_that_said_nothing() -> None:
    verdict = outcome(CASES["nothing but a fatal Xid"], [])
    assert verdict is not None
    assert (verdict.source, verdict.signature, verdict.node, verdict.faulty_component) == (
        "node-logs", "xid_fallen_off_bus", "n1", Component.GPU,
    )  # fmt: skip
    assert (verdict.final, verdict.exit_code, verdict.restartable) == (True, 1, True)


def test_a_collective_that_timed_out_is_put_down_to_the_gpu() -> None:
    verdict = outcome(CASES["a collective that timed out"], [])
    assert verdict is not None
    assert (verdict.source, verdict.faulty_component, verdict.node) == ("node-logs", Component.GPU, "n1")
    assert verdict.confidence >= 0.9
    assert [one.topic for one in verdict.evidence][:2] == ["node-logs", "job-logs"]


def test_a_bug_stays_a_bug_and_a_good_end_a_good_end() -> None:
    bug = outcome(CASES["a bug beside a broken GPU"], [])
    assert bug is not None
    assert (bug.error_type, bug.signature, bug.restartable) == (ErrorType.USER_SCRIPT, "KeyError", False)
    assert outcome(CASES["all well"], []) is None


def test_a_node_with_another_job_does_not_outvote_an_error() -> None:
    alone = outcome(CASES["a GPU's error on a node with another job"], [])
    beside = outcome(CASES["a GPU's error beside another job"], [])
    assert alone is not None
    assert beside is not None
    assert (alone.source, beside.source) == ("node-logs", "traceback")


def test_a_lone_warning_makes_no_verdict() -> None:
    weak = [[chunk(progress(1), 1, T - 20)], [started(), ended()], [kernel(PROGRAM_FAULT)]]
    verdict = outcome(weak, [])
    assert verdict is not None
    assert verdict.error_type is ErrorType.UNKNOWN
