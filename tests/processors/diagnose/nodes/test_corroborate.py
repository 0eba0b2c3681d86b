import pytest

from processors.diagnose.catalogue import load
from processors.diagnose.nodes import GpuReader, NodeEvidence, NodeLogReader, corroborate
from records import Component, ErrorType, Evidence, Failure, GpuProcess, GpuSample, NodeLogChunk, Position

SIGNATURES = load()
BY_NAME = {one.name: one for one in SIGNATURES}
LOG, GPU = NodeLogReader(SIGNATURES), GpuReader(SIGNATURES)
T = 1000.0

XID = "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python, GPU has fallen off the bus."
OOM = "oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/slurm/uid_1000/job_{}/step_0,task=python,pid=4242"
ROOT = Evidence(topic="job-logs", partition=1, offset=5, line=77, text="the job's own line", rank=3)


def nodes(*lines: str, node: str = "n1", time: float = T - 5) -> NodeEvidence:
    store = NodeEvidence()
    store.add(
        LOG.read(NodeLogChunk(node=node, lines=list(lines), time=time, first_line=1), Position("node-logs", 0, 9))
    )
    return store


def failure(**fields: object) -> Failure:
    known: dict[str, object] = {
        "id": "f", "job": "17", "revision": 2, "time": T, "node": "n1", "rank": 3, "root": ROOT, "message": ROOT.text,
        "error_type": ErrorType.UNKNOWN, "confidence": 0.2, "source": "signature", "signature": "error_line", "evidence": [ROOT],
        "final": True, "exit_code": 1,
    }  # fmt: skip
    return Failure(**(known | fields))  # type: ignore[arg-type]


KILLED = {
    "error_type": ErrorType.OTHER,
    "confidence": 0.4,
    "source": "exit",
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
    "source": "traceback",
    "signature": "KeyError",
    "restartable": False,
}


def test_the_log_of_the_node_confirms() -> None:
    (one,) = [corroborate(failure(**GPU_TEXT), ["n1", "n2"], nodes(XID), BY_NAME)]
    assert one is not None
    assert (one.revision, one.source, one.signature) == (3, "signature+node-logs", "cuda_unavailable_device")
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
    one = corroborate(failure(**facts), [], nodes(line), BY_NAME)
    assert one is not None
    assert (one.signature, one.faulty_component, one.source) == (cause, component, "node-logs")
    assert one.error_type is ErrorType.INFRASTRUCTURE
    assert one.root is not None
    assert one.root.text == line
    assert ROOT in one.evidence


def test_a_job_without_a_node_of_its_own_is_looked_up_by_its_hosts() -> None:
    one = corroborate(failure(**KILLED, node=""), ["n7", "n8"], nodes(OOM.format(17), node="n8"), BY_NAME)
    assert one is not None
    assert (one.node, one.signature) == ("n8", "oom_killer")


def test_a_plain_bug_stays_one_and_only_its_confidence_falls() -> None:
    one = corroborate(failure(**BUG), [], nodes(XID), BY_NAME)
    assert one is not None
    assert (one.error_type, one.signature, one.source) == (ErrorType.USER_SCRIPT, "KeyError", "traceback-node-logs")
    assert one.confidence < 0.75
    assert one.evidence[-1].text == XID


@pytest.mark.parametrize(
    "evidence",
    [
        NodeEvidence(),
        nodes(XID, time=T - 5000),
        nodes(XID, time=T + 500),
        nodes(XID, node="n9"),
        nodes(OOM.format(99)),
        nodes("usb 1-1: new high-speed USB device number 7"),
        nodes("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 22013, Non-fatal, Link 32 MINION Link DLREQ interrupt"),
    ],
)
def test_what_was_elsewhere_or_then_or_anothers_or_weak_says_nothing(evidence: NodeEvidence) -> None:
    assert corroborate(failure(), ["n1"], evidence, BY_NAME) is None


def test_the_schedulers_word_and_withdrawn_verdicts_are_left_alone() -> None:
    timeout = {
        "error_type": ErrorType.OTHER,
        "confidence": 0.95,
        "source": "exit",
        "signature": "timeout",
        "root": None,
    }
    assert corroborate(failure(**timeout), [], nodes(XID), BY_NAME) is None
    assert corroborate(failure(error_type=ErrorType.NONE), [], nodes(XID), BY_NAME) is None


def test_the_same_evidence_is_weighed_once() -> None:
    store = nodes(XID)
    for facts in ({}, GPU_TEXT, BUG, KILLED):
        one = corroborate(failure(**facts), [], store, BY_NAME)
        assert one is not None
        assert corroborate(one, [], store, BY_NAME) is None


def samples(*kept: GpuSample) -> NodeEvidence:
    store, memory = NodeEvidence(), {}
    for one in kept:
        store.add(GPU.read(one, Position("gpu-metrics", 0, int(one.time)), memory))
        store.heard_gpu(one.node, one.time)
    return store


def test_samples_of_gpus_confirm_or_speak_against() -> None:
    calm = [GpuSample(id="", node="n1", gpu=0, time=T + at, ecc_uncorrected=0) for at in range(-100, 60, 5)]
    broken = [*calm, GpuSample(id="", node="n1", gpu=0, time=T + 5, ecc_uncorrected=2)]
    confirmed = corroborate(failure(**GPU_TEXT), [], samples(*broken), BY_NAME)
    assert confirmed is not None
    assert confirmed.source == "signature+gpu-metrics"
    doubted = corroborate(failure(**GPU_TEXT), [], samples(*calm), BY_NAME)
    assert doubted is not None
    assert (doubted.source, doubted.revision) == ("signature-gpu-metrics", 3)
    assert doubted.confidence < 0.75
    assert corroborate(doubted, [], samples(*calm), BY_NAME) is None
    assert corroborate(failure(**GPU_TEXT), [], samples(*calm[:5]), BY_NAME) is None


def test_a_gpu_that_another_job_uses_is_no_evidence() -> None:
    other = GpuSample(id="", node="n1", gpu=0, time=T, xids=[79], processes=[GpuProcess(pid=1, job="99")])
    assert corroborate(failure(), [], samples(other), BY_NAME) is None
