from itertools import permutations

import msgspec
import pytest

from processors.diagnose.catalogue import load
from processors.diagnose.nodes import NodeLogReader, corroborate
from processors.new_lines import NewLines
from schedmate_records import Component, ErrorType, Evidence, Failure, FailureSource, NodeFinding, Position, Severity

SIGNATURES = load()
BY_NAME = {one.name: one for one in SIGNATURES}
LOG = NodeLogReader(SIGNATURES)
T = 1000.0

XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python, GPU has fallen off the bus."
OOM = "oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/slurm/uid_1000/job_{}/step_0,task=python,pid=4242"
ROOT = Evidence(topic="job-logs", partition=1, offset=5, line=77, text="the job's own line", rank=3)


def nodes(*lines: str, node: str = "n1", time: float = T - 5) -> list[NodeFinding]:
    numbers, times = range(1, len(lines) + 1), [time] * len(lines)
    return LOG.read(node, "kernel", NewLines(lines, numbers, times, 0), Position("node-logs", 0, 9))


def failure(**fields: object) -> Failure:
    known: dict[str, object] = {
        "id": "f", "job": "17", "revision": 2, "time": T, "node": "n1", "rank": 3, "root": ROOT, "message": ROOT.text,
        "error_type": ErrorType.UNKNOWN, "confidence": 0.2, "source": FailureSource.SIGNATURE, "signature": "error_line",
        "evidence": [ROOT],
        "final": True, "exit_code": 1,
    }  # fmt: skip
    return Failure(**(known | fields))  # type: ignore[arg-type]


KILLED = {
    "error_type": ErrorType.OTHER,
    "confidence": 0.4,
    "source": FailureSource.EXIT,
    "signature": "sigkill",
    "signal": 9,
    "root": None,
}
NCCL = {
    "error_type": ErrorType.INFRASTRUCTURE, "faulty_component": Component.NETWORK, "confidence": 0.6, "signature": "nccl_watchdog_timeout",
}  # fmt: skip
GPU_TEXT = {
    "error_type": ErrorType.INFRASTRUCTURE, "faulty_component": Component.GPU, "confidence": 0.75, "signature": "cuda_unavailable_device",
}  # fmt: skip
BUG = {
    "error_type": ErrorType.USER_SCRIPT,
    "confidence": 0.75,
    "source": FailureSource.TRACEBACK,
    "signature": "KeyError",
    "restartable": False,
}


def test_the_log_of_the_node_confirms() -> None:
    (one,) = [corroborate(failure(**GPU_TEXT), nodes(XID), BY_NAME)]
    assert one is not None
    assert (one.revision, one.source, one.confirmed_by) == (3, "signature", ["node-logs"])
    assert one.signature == "cuda_unavailable_device"
    assert one.node_evidence
    assert one.confidence > 0.95
    assert one.root == ROOT
    assert [line.text for line in one.evidence] == [ROOT.text, XID]
    assert (one.final, one.exit_code) == (True, 1)
    assert one.id != "f"


@pytest.mark.parametrize(
    ("facts", "line", "cause", "component"),
    [
        ({}, XID, "xid_fallen_off_bus", Component.GPU),
        (KILLED, OOM.format(17), "oom_killer", Component.NODE),
        (NCCL, XID, "xid_fallen_off_bus", Component.GPU),
        (BUG | {"message": "RuntimeError: CUDA error: unspecified"}, XID, "xid_fallen_off_bus", Component.GPU),
    ],
)
def test_the_log_of_the_node_alone_makes_the_verdict(
    facts: dict[str, object], line: str, cause: str, component: Component
) -> None:
    one = corroborate(failure(**facts), nodes(line), BY_NAME)
    assert one is not None
    assert (one.signature, one.faulty_component, one.source) == (cause, component, "node-logs")
    assert one.node_evidence
    assert one.error_type is ErrorType.INFRASTRUCTURE
    assert one.root is not None
    assert one.root.text == line
    assert ROOT in one.evidence


def test_a_job_without_a_node_of_its_own_gets_that_of_the_finding() -> None:
    one = corroborate(failure(**KILLED, node=""), nodes(OOM.format(17), node="n8"), BY_NAME)
    assert one is not None
    assert (one.node, one.signature) == ("n8", "oom_killer")


def test_a_confirmed_verdict_blames_the_node_that_is_ill_not_the_one_that_printed() -> None:
    there = nodes(XID, node="n2")
    one = corroborate(failure(**GPU_TEXT), there, BY_NAME)
    assert one is not None
    assert (one.node, one.source, one.confirmed_by, one.node_evidence) == ("n2", "signature", ["node-logs"], True)
    both = corroborate(failure(**GPU_TEXT), [*there, *nodes(XID)], BY_NAME)
    assert both is not None
    assert both.node == "n1"
    certain = corroborate(failure(**GPU_TEXT | {"confidence": 0.95}), there, BY_NAME)
    assert certain is not None
    assert (certain.node, certain.node_evidence) == ("n1", False)
    mild = [msgspec.structs.replace(each, severity=Severity.ERROR, confidence=0.7) for each in there]
    weak = corroborate(failure(**GPU_TEXT), mild, BY_NAME)
    assert weak is not None
    assert (weak.node, weak.node_evidence) == ("n1", False)


def test_a_plain_bug_stays_one_and_only_its_confidence_falls() -> None:
    one = corroborate(failure(**BUG), nodes(XID), BY_NAME)
    assert one is not None
    assert not one.node_evidence
    assert (one.error_type, one.signature, one.source) == (ErrorType.USER_SCRIPT, "KeyError", "traceback")
    assert (one.confirmed_by, one.contradicted_by) == ([], ["node-logs"])
    assert one.confidence < 0.75
    assert one.evidence[-1].text == XID


CANCELLED = {
    "error_type": ErrorType.OTHER,
    "confidence": 0.85,
    "source": FailureSource.SIGNATURE,
    "signature": "cancelled",
}
CUDA_MEMORY = {
    "error_type": ErrorType.USER_SCRIPT, "confidence": 0.85, "signature": "cuda_out_of_memory", "message": "CUDA out of memory. Tried …",
}  # fmt: skip


def to_several(*lines: str) -> list[NodeFinding]:
    return [msgspec.structs.replace(one, jobs=["17", "18"]) for one in nodes(*lines)]


@pytest.mark.parametrize("facts", [BUG, BUG | {"message": "RuntimeError: CUDA error"}, CUDA_MEMORY, CANCELLED])
def test_what_may_be_about_another_job_outdoes_no_error_of_this_one(facts: dict[str, object]) -> None:
    assert corroborate(failure(**facts), to_several(XID), BY_NAME) is None
    assert corroborate(failure(**facts), to_several("Out of memory: Killed process 99 (python)"), BY_NAME) is None


def test_what_may_be_about_another_job_explains_one_that_says_nothing_itself() -> None:
    one = corroborate(failure(**KILLED), to_several(OOM.format(17)), BY_NAME)
    assert one is not None
    assert one.signature == "oom_killer"


def test_the_hosts_memory_does_not_explain_an_error_of_the_gpu() -> None:
    one = corroborate(failure(**CUDA_MEMORY), nodes("Out of memory: Killed process 99 (python)"), BY_NAME)
    assert one is not None
    assert (one.signature, one.source, one.contradicted_by) == ("cuda_out_of_memory", "signature", ["node-logs"])


@pytest.mark.parametrize(
    "evidence",
    [
        [],
        nodes(XID, time=T - 5000),
        nodes(XID, time=T + 500),
        nodes("usb 1-1: new high-speed USB device number 7"),
        nodes("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 22013, Non-fatal, Link 32 MINION Link DLREQ interrupt"),
    ],
)
def test_what_was_then_or_weak_says_nothing(evidence: list[NodeFinding]) -> None:
    assert corroborate(failure(), evidence, BY_NAME) is None


@pytest.mark.parametrize("facts", [{}, KILLED, NCCL, GPU_TEXT, BUG])
def test_a_lone_warning_makes_no_verdict(facts: dict[str, object]) -> None:
    (xid,) = nodes(XID)
    warning = msgspec.structs.replace(xid, severity=Severity.WARNING, confidence=0.5)
    assert corroborate(failure(**facts), [warning], BY_NAME) is None
    mild = msgspec.structs.replace(xid, severity=Severity.ERROR, confidence=0.7)
    one = corroborate(failure(**facts), [mild], BY_NAME)
    assert (one and one.signature) == ("cuda_unavailable_device" if facts is GPU_TEXT else None), (
        "it may confirm, no more"
    )


def test_the_order_of_findings_does_not_matter() -> None:
    lines = [
        XID,
        OOM.format(17),
        "mlx5_core 0000:5e:00.0 ib0: Link down",
        "blk_update_request: I/O error, dev sda, sector 12345",
    ]
    found = nodes(*lines)
    assert len(found) == 4
    for facts in ({}, KILLED, NCCL, GPU_TEXT, BUG):
        outcomes = {msgspec.json.encode(corroborate(failure(**facts), order, BY_NAME)) for order in permutations(found)}
        assert len(outcomes) == 1


def test_a_surer_cause_of_another_part_replaces_what_a_weaker_finding_agrees_with() -> None:
    found = nodes("mlx5_core 0000:5e:00.0 ib0: Link down", XID)
    one = corroborate(failure(**NCCL), found, BY_NAME)
    assert one is not None
    assert (one.faulty_component, one.source) == (Component.GPU, "node-logs")


def test_the_schedulers_word_and_withdrawn_verdicts_are_left_alone() -> None:
    timeout = {
        "error_type": ErrorType.OTHER,
        "confidence": 0.95,
        "source": FailureSource.EXIT,
        "signature": "timeout",
        "root": None,
    }
    assert corroborate(failure(**timeout), nodes(XID), BY_NAME) is None
    assert corroborate(failure(error_type=ErrorType.NONE), nodes(XID), BY_NAME) is None


def calm(since: float = T - 100, node: str = "n1") -> NodeFinding:
    place = Evidence(topic="gpu-metrics", partition=0, offset=7, line=1, text="calm", stream="gpu")
    return NodeFinding(
        id="c", job="17", node=node, time=T + 31, since=since, signature="gpus_healthy", severity=Severity.INFO,
        error_type=ErrorType.NONE, place=place,
    )  # fmt: skip


def test_gpus_that_were_watched_and_showed_nothing_speak_against_a_verdict_on_one() -> None:
    doubted = corroborate(failure(**GPU_TEXT), [calm()], BY_NAME)
    assert doubted is not None
    assert (doubted.source, doubted.contradicted_by, doubted.revision) == ("signature", ["gpu-metrics"], 3)
    assert doubted.confidence < 0.75
    assert doubted.evidence[-1].text == "calm"
    assert corroborate(failure(**GPU_TEXT), [calm(since=T - 5)], BY_NAME) is None
    assert corroborate(failure(**GPU_TEXT), [calm(node="n2")], BY_NAME) is None
    assert corroborate(failure(**BUG), [calm()], BY_NAME) is None


STALLED = (
    "NVRM: Xid (PCI:0000:3b:00): 109, pid=4242, name=python, channel 0x0a, errorString CTX SWITCH TIMEOUT, Info 0x78007"
)
REFUSED = "NVRM: Xid (PCI:0000:3b:00): 13, pid=4242, name=python, Graphics SM Warp Exception on (GPC 0, TPC 0, SM 1): Misaligned Address"
ILLEGAL = {
    "error_type": ErrorType.FRAMEWORK, "confidence": 0.6, "signature": "cuda_illegal_access",
    "message": "RuntimeError: CUDA error: an illegal memory access was encountered",
}  # fmt: skip


def test_a_gpu_that_stopped_by_itself_is_to_blame_for_what_follows() -> None:
    one = corroborate(failure(**NCCL), nodes(STALLED), BY_NAME)
    assert one is not None
    assert (one.signature, one.faulty_component) == ("xid_stalled", Component.GPU)


def test_a_gpu_that_stopped_after_an_access_that_it_refused_is_not() -> None:
    refused, stalled = nodes(REFUSED, time=T - 8), nodes(STALLED, time=T - 5)
    for facts in (NCCL, KILLED, ILLEGAL, GPU_TEXT):
        assert corroborate(failure(**facts), [*refused, *stalled], BY_NAME) is None
    assert corroborate(failure(**ILLEGAL), stalled, BY_NAME) is None, "the program's own word of it is enough"


@pytest.mark.parametrize(
    ("refused", "stalled"),
    [
        (nodes(REFUSED, time=T - 200), nodes(STALLED)),
        (nodes(REFUSED.replace("3b", "4c"), time=T - 8), nodes(STALLED)),
        (nodes(REFUSED, node="n2", time=T - 8), nodes(STALLED)),
        (nodes(REFUSED, time=T - 2), nodes(STALLED)),
    ],
    ids=["long before", "on another GPU", "on another node", "afterwards"],
)
def test_what_another_access_did_does_not_excuse_a_gpu(refused: list[NodeFinding], stalled: list[NodeFinding]) -> None:
    one = corroborate(failure(**NCCL), [*refused, *stalled], BY_NAME)
    assert one is not None
    assert one.signature == "xid_stalled"


def test_a_refused_access_follows_from_a_gpu_that_is_ill() -> None:
    one = corroborate(failure(**ILLEGAL), nodes(XID), BY_NAME)
    assert one is not None
    assert one.signature == "xid_fallen_off_bus"
