"""What GPU drivers print in a node's log, or in a job's own output: from the line to the verdict and the decisions."""

from collections.abc import Sequence

import msgspec
import pytest

from processors.job import JobProcessor
from processors.node import NodeProcessor
from schedmate_records import (
    Action,
    Component,
    Decision,
    ErrorType,
    EventKind,
    Failure,
    GpuSample,
    JobEvent,
    LogChunk,
    NodeFinding,
    NodeLogChunk,
    Record,
    RecoveryAction,
    Severity,
    decode,
)
from scheduler_bridge import BridgeSettings
from scheduler_bridge.policies import propose
from streams.memory import MemoryBroker
from streams.runtimes.engine import Engine
from streams.runtimes.local_worker import LocalWorker
from streams.transport import outgoing

NODE, BEGAN, ENDED = "n1", 10_000.0, 10_600.0
STEPS = [f"step {number}/1000 loss {2 - number / 100:.3f} lr 0.001 step_time 0.51s" for number in range(1, 61)]
NCCL = (
    "[rank0]:[E ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=81, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600013 milliseconds before timing out."
)
XID = "NVRM: Xid (PCI:0018:01:00): "
BIT_ERRORS = XID + "149, NETIR_BER_EVENT Nonfatal XC0 i0 Link 03 (0x00086226 0x00000000 0x00000000 0x00000000)"
LINK_DOWN = XID + "149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x00000000 0x00000000 0x00000000)"
FALLEN = XID + "79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
RESET_REQUIRED = XID + "154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"
RECOVERED = XID + "154, GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)"
RING = "amdgpu 0000:83:00.0: amdgpu: ring sdma0 timeout, signaled seq=10, emitted seq=12"
RESET = [RING, "amdgpu 0000:83:00.0: amdgpu: GPU reset begin!", "amdgpu 0000:83:00.0: amdgpu: GPU reset(2) succeeded!"]


def ran(
    node: Sequence[str] = (), job: Sequence[str] = (), samples: Sequence[GpuSample] = (), code: int = 1
) -> tuple[list[NodeFinding], Failure | None, list[Decision]]:
    """Return what follows from a job of 60 good steps that prints `job`, then ends with `code`, while its node logs `node`."""
    lines = [*STEPS, *job]
    records: list[Record] = [
        JobEvent(id="s", job="j", kind=EventKind.STARTED, time=BEGAN, nodes=[NODE]),
        LogChunk(job="j", node=NODE, producer="p", lines=lines, time=ENDED - 10, first_line=1, first_piece=1),
        NodeLogChunk(node=NODE, source="kernel", producer="k", lines=list(node), time=ENDED - 20),
        *samples,
        JobEvent(
            id="e",
            job="j",
            kind=EventKind.ENDED,
            time=ENDED,
            nodes=[NODE],
            exit_code=code,
            state="FAILED" if code else "COMPLETED",
        ),
    ]
    broker = MemoryBroker(partitions=1)
    worker = LocalWorker(broker, [Engine(NodeProcessor()), Engine(JobProcessor())])
    for record in sorted(records, key=lambda each: each.time):
        broker.append(outgoing(record))
        while worker.step():
            pass
    verdicts = [decode(Failure, message.value) for message in broker.read("failures", 0)]
    last = max(verdicts, key=lambda each: each.revision, default=None)
    found = [decode(NodeFinding, message.value) for message in broker.read("node-findings", 0)]
    return found, last, propose(last, BridgeSettings()) if last else []


def drains(decisions: Sequence[Decision]) -> list[Decision]:
    return [each for each in decisions if each.action is Action.DRAIN]


PREFIXES = [
    "",
    "[449410.332316] ",
    "Nov 27 18:58:10 n1 kernel: ",
    "2026-11-27T18:58:10.123456+00:00 n1 kernel: [449410.332316] ",
    "4,2212,4053155111,-;",
]
WARNINGS = [
    BIT_ERRORS,
    XID + "145, RLW_RXPIPE Nonfatal XC0 i0 Link 03 (0x00000006 0x00000001 0x00000000)",
    XID + "144, SAW_MVB Nonfatal XC0 i0 Link 03 (0x00000001 0x00000001 0x00000000)",
    "Xid (PCI:0000:D8:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 14(0x1, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)",
    XID + "63, pid=7, name=python3, Row Remapper: New row marked for remapping, reset gpu to activate.",
    XID + "92, pid='<unknown>', name=<unknown>, High single-bit ECC error rate",
    "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 11012, Non-fatal, Link 32 ingress ECC error",
    "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 22013, Non-fatal, Link 32 MINION Link DLREQ interrupt",
    "nv-fabricmanager[5183]: detected NVSwitch non-fatal error 22013 on NodeId 0 on NVSwitch pci bus id 00000000:08:00.0 physical id 3",
    "amdgpu 0000:83:00.0: amdgpu: 4 correctable hardware errors detected in total in umc block",
    "amdgpu 0000:83:00.0: amdgpu: socket: 4, die: 0 1 new correctable hardware errors detected in xgmi_wafl block",
    "AMDGPU 0000:83:00.0: AMDGPU: 1 deferred hardware errors detected in umc block",
    "pcieport 0000:3a:00.0: AER: Corrected error received: 0000:3b:00.0",
    "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 (channel:1)",
]  # fmt: skip


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("line", WARNINGS)
def test_a_warning_is_on_record_and_changes_no_verdict(line: str, prefix: str) -> None:
    for output in ([NCCL], []):
        found, last, decisions = ran(node=[prefix + line], job=output)
        _, alone, _ = ran(job=output)
        assert [one.severity for one in found if one.severity is not Severity.INFO] == [Severity.WARNING]
        assert last is not None
        assert alone is not None
        assert (last.signature, last.faulty_component, last.node_evidence) == (
            alone.signature,
            alone.faulty_component,
            False,
        )
        assert drains(decisions) == []


@pytest.mark.parametrize("line", WARNINGS)
def test_a_warning_in_a_jobs_own_output_is_no_verdict(line: str) -> None:
    _, last, _ = ran(job=[line])
    assert last is not None
    assert last.error_type is not ErrorType.INFRASTRUCTURE
    assert ran(job=[line], code=0)[1] is None


DBE = "48, pid=7, name=python3, An uncorrectable double bit error (DBE) has been detected on GPU"
LINK_14 = (
    "Xid (PCI:0000:D8:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 14"
    "({}, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"
)
FABRIC_MANAGER = "[Sep 17 2024 06:01:46] [ERROR] detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:47:00.0"
AMD = "amdgpu 0000:83:00.0: amdgpu: "
FAULTS = [
    (LINK_DOWN, "xid_nvlink", Component.NVLINK),
    (LINK_DOWN.replace("Fatal", "FATAL"), "xid_nvlink", Component.NVLINK),
    (FALLEN, "xid_fallen_off_bus", Component.GPU),
    (FALLEN.replace("NVRM: Xid (PCI:0018:01:00)", "xid (PCI:3b:00.0)"), "xid_fallen_off_bus", Component.GPU),
    (XID + DBE, "xid_ecc_uncorrectable", Component.GPU),
    ("NVRM: Xid (PCI:0000:01:00 GPU-I:05 GPU-CI:02): 95, pid=7194, Uncontained error", "xid_ecc_uncorrectable", Component.GPU),
    (LINK_14.format("0x10001"), "xid_nvlink", Component.NVLINK),
    (RESET_REQUIRED, "xid_recovery", Component.GPU),
    ("nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 30 LTSSM Fault Up", "sxid_fatal", Component.NVLINK),
    (FABRIC_MANAGER, "sxid_fatal", Component.NVLINK),
    (AMD + "2 uncorrectable hardware errors detected in umc block", "amdgpu_uncorrectable", Component.GPU),
    (AMD + "socket: 0, die: 1 2 new uncorrectable hardware errors detected in gfx block", "amdgpu_uncorrectable", Component.GPU),
    (AMD + "GPU reset(2) failed", "amdgpu_reset_failed", Component.GPU),
]  # fmt: skip


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(("line", "signature", "component"), FAULTS)
def test_a_fault_of_the_list_makes_the_verdict_and_a_drain(
    line: str, signature: str, component: Component, prefix: str
) -> None:
    _, last, decisions = ran(node=[prefix + line], job=[NCCL])
    assert last is not None
    assert (last.signature, last.faulty_component, last.node_evidence) == (signature, component, True)
    assert last.drain is True
    assert [each.node for each in drains(decisions)] == [NODE]


@pytest.mark.parametrize(
    ("lines", "signature"),
    [
        ([XID + "94, pid=7, name=python3, Contained: CE User Channel (0x9). RST: No, D-RST: No"], "xid_ecc_uncorrectable"),
        ([XID + "109, pid=7, name=python3, CTX SWITCH TIMEOUT"], "xid_stalled"),
        ([XID + "149, NETIR_LINK_DOWN Fatal XC0 i0 Link 08 (0x020505c6 0x0 0x0)"], "xid_nvlink"),
        (RESET, "amdgpu_ring_timeout"),
        (["Out of memory: Killed process 4242 (python) total-vm:120000kB, anon-rss:100000kB"], "oom_killer"),
    ],
)  # fmt: skip
def test_a_fault_that_is_not_on_the_list_makes_the_verdict_and_no_drain(lines: list[str], signature: str) -> None:
    _, last, decisions = ran(node=lines, job=[])
    assert last is not None
    assert (last.signature, last.node_evidence, last.drain) == (signature, True, False)
    assert drains(decisions) == []


def test_no_errors_is_no_finding() -> None:
    for line in ("0 uncorrectable hardware errors detected in umc block", "no uncorrectable hardware errors detected"):
        found, _, _ = ran(node=[f"amdgpu 0000:83:00.0: amdgpu: {line}"])
        assert [one for one in found if one.severity is not Severity.INFO] == []


def test_xid_45_follows_the_xid_that_it_names() -> None:
    follows = "NVRM: Xid (PCI:0018:01:00): 45, pid=1, name=python3, Ch 0000000{} caused by previous Xid 149"
    found, last, decisions = ran(node=[BIT_ERRORS, follows.format(1), follows.format(2)], job=[NCCL])
    assert {one.severity for one in found} <= {Severity.WARNING, Severity.INFO}
    assert last is not None
    assert not last.node_evidence
    assert drains(decisions) == []
    _, last, decisions = ran(node=[LINK_DOWN, follows.format(1)], job=[NCCL])
    assert last is not None
    assert (last.signature, last.faulty_component) == ("xid_nvlink", Component.NVLINK)
    assert len(drains(decisions)) == 1
    _, last, _ = ran(job=[BIT_ERRORS, follows.format(1)])
    assert last is not None
    assert last.error_type is not ErrorType.INFRASTRUCTURE
    _, last, _ = ran(job=[LINK_DOWN, follows.format(1)])
    assert last is not None
    assert (last.signature, last.faulty_component) == ("xid_nvlink", Component.NVLINK)
    alone, _, decisions = ran(node=[follows.format(1)], job=[NCCL])
    assert [(one.component, one.severity) for one in alone if one.event] == [(Component.NVLINK, Severity.ERROR)]
    assert drains(decisions) == []


def test_the_recovery_action_stays_with_the_finding_and_the_verdict() -> None:
    found, last, decisions = ran(node=[FALLEN, RESET_REQUIRED], job=[NCCL])
    stated = [one for one in found if one.recovery_action]
    assert [(one.event, one.recovery_action) for one in stated] == [("Xid 154", RecoveryAction.GPU_RESET)]
    assert last is not None
    assert (last.signature, last.recovery_action) == ("xid_fallen_off_bus", RecoveryAction.GPU_RESET)
    (drain,) = drains(decisions)
    assert "gpu reset" in drain.reason


def test_a_gpu_that_recovered_drains_nothing() -> None:
    _, last, decisions = ran(node=[FALLEN, RESET_REQUIRED, RECOVERED], job=[NCCL])
    assert last is not None
    assert (last.signature, last.recovery_action) == ("xid_fallen_off_bus", RecoveryAction.NONE)
    assert drains(decisions) == []


def test_nvml_states_the_recovery_action() -> None:
    def sample(time: float, action: RecoveryAction) -> GpuSample:
        return GpuSample(id=f"s{time}", node=NODE, gpu=1, uuid="GPU-1", time=time, recovery_action=action)

    healthy, reset = sample(ENDED - 30, RecoveryAction.NONE), sample(ENDED - 20, RecoveryAction.NODE_REBOOT)
    found, last, decisions = ran(samples=[healthy, reset, msgspec.structs.replace(reset, id="s3", time=ENDED - 15)])
    stated = [one for one in found if one.recovery_action]
    assert [(one.signature, one.recovery_action) for one in stated] == [
        ("gpu_recovery_action", RecoveryAction.NODE_REBOOT)
    ]
    assert last is not None
    assert (last.signature, last.drain) == ("gpu_recovery_action", True)
    assert len(drains(decisions)) == 1


@pytest.mark.parametrize("number", [144, 145, 146, 147, 148, 149])
def test_a_number_alone_of_nvml_drains_nothing(number: int) -> None:
    _, last, decisions = ran(samples=[GpuSample(id="s", node=NODE, gpu=1, time=ENDED - 20, xids=[number])])
    assert last is not None
    assert last.source != "gpu-metrics"
    assert drains(decisions) == []


def test_the_same_warning_above_its_rate_is_an_error() -> None:
    line = XID + "63, pid=7, name=python3, Row Remapper: New row marked for remapping, reset gpu to activate."
    assert {one.severity for one in ran(node=[line] * 2)[0] if one.event} == {Severity.WARNING}
    assert {one.severity for one in ran(node=[line] * 3)[0] if one.event} == {Severity.WARNING, Severity.ERROR}
    for flood, few in ((BIT_ERRORS, 50), (WARNINGS[-2], 50)):
        assert all(one.severity is not Severity.ERROR for one in ran(node=[flood] * few)[0])
        found, last, decisions = ran(node=[flood] * 200)
        assert any(one.severity is Severity.ERROR for one in found)
        assert last is not None
        assert not last.node_evidence
        assert drains(decisions) == []


def test_a_line_that_counts_errors_weighs_as_many() -> None:
    def worst(line: str) -> bool:
        return any(one.severity is Severity.ERROR for one in ran(node=[line])[0])

    assert worst("EDAC MC0: 4000 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 (channel:1)")
    assert worst(
        "amdgpu 0000:83:00.0: amdgpu: socket: 4, die: 0 500 new correctable hardware errors detected in umc block"
    )
    assert not worst("amdgpu 0000:83:00.0: amdgpu: 500 correctable hardware errors detected in total in umc block")


def test_marginal_bits_of_one_link_count_together() -> None:
    def error(link: int) -> str:
        return f"{XID}74, NVLink: fatal error detected on link {link}(0x10, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"

    assert drains(ran(node=[error(1), error(2), error(3)])[2]) == []
    assert len(drains(ran(node=[error(1)] * 3)[2])) == 1
