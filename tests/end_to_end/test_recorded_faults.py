"""Programs that went wrong on a real H100: whatever the kernel and NVML said of the GPU then, it is not the GPU's doing."""

import gzip
from pathlib import Path
from typing import Any

import msgspec
import pytest

from processors.job import JobProcessor
from processors.node import NodeProcessor
from schedmate_records import (
    Action,
    ErrorType,
    EventKind,
    Failure,
    GpuSample,
    JobEvent,
    LogChunk,
    NodeLogChunk,
    Record,
    decode,
)
from scheduler_bridge import BridgeSettings
from scheduler_bridge.policies import propose
from streams.memory import MemoryBroker
from streams.runtimes.engine import Engine
from streams.runtimes.local_worker import LocalWorker
from streams.transport import outgoing

RECORDED = Path(__file__).parents[1] / "recordings" / "h100_faults.jsonl.gz"
FAULTS = {
    found["case"]: found for found in map(msgspec.json.decode, gzip.decompress(RECORDED.read_bytes()).splitlines())
}
STALLED = {"misaligned_address", "illegal_address"}
NODE = "gpu-node"


def verdict(found: dict[str, Any], *, kernel: bool, nvml: bool, log: bool = True) -> Failure:
    """Return the last verdict on a recorded job, of whose node the kernel's log, samples by NVML, or both are read."""
    began, ended = found["began"], found["ended"]
    records: list[Record] = [JobEvent(id="s", job="j", kind=EventKind.STARTED, time=began, nodes=[NODE])]
    if log:
        lines = found["log"].splitlines()
        records.append(LogChunk(job="j", node=NODE, producer="p", lines=lines, time=ended, first_line=1, first_piece=1))
    if kernel and found["kernel"]:
        lines = [line for _, line in found["kernel"]]
        records.append(NodeLogChunk(node=NODE, source="kernel", producer="k", lines=lines, time=found["kernel"][0][0]))
    if nvml:
        records += [msgspec.convert(each, GpuSample) for each in found["samples"]]
    records.append(
        JobEvent(id="e", job="j", kind=EventKind.ENDED, time=ended, nodes=[NODE], exit_code=1, state="FAILED")
    )
    broker = MemoryBroker(partitions=1)
    worker = LocalWorker(broker, [Engine(NodeProcessor()), Engine(JobProcessor())])
    for record in sorted(records, key=lambda each: each.time):
        broker.append(outgoing(record))
        while worker.step():
            pass
    told = [decode(Failure, message.value) for message in broker.read("failures", 0)]
    return max(told, key=lambda each: each.revision)


def test_the_recording_holds_what_matters() -> None:
    assert set(FAULTS) > STALLED
    for case in STALLED:
        assert any("Xid" in line and "): 109," in line for _, line in FAULTS[case]["kernel"])
        assert any(109 in each["xids"] for each in FAULTS[case]["samples"])
        assert len(FAULTS[case]["kernel"]) > 1000, "a refused access floods the kernel's log"


@pytest.mark.parametrize("case", sorted(FAULTS))
@pytest.mark.parametrize(("kernel", "nvml"), [(True, False), (False, True), (True, True)])
def test_the_program_is_to_blame(case: str, kernel: bool, nvml: bool) -> None:
    last = verdict(FAULTS[case], kernel=kernel, nvml=nvml)
    if case == "killed_on_the_gpu":  # a log that says `Killed` does not say by whom
        assert not last.node_evidence
    else:
        assert last.error_type in (ErrorType.USER_SCRIPT, ErrorType.FRAMEWORK), last
        assert not last.contradicted_by
    decisions = propose(last, BridgeSettings())
    assert not any(each.action is Action.DRAIN or each.exclude_nodes for each in decisions)


@pytest.mark.parametrize("case", sorted(STALLED))
def test_a_job_that_says_nothing_is_not_excused_by_its_own_fault(case: str) -> None:
    """Its kernel's log alone tells what it did, and that the GPU stopped because of that."""
    last = verdict(FAULTS[case], kernel=True, nvml=False, log=False)
    assert last.error_type is not ErrorType.INFRASTRUCTURE
