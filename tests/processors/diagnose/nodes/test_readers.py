import msgspec
from hypothesis import given
from hypothesis import strategies as st

from processors.diagnose.catalogue import load
from processors.diagnose.nodes import GpuReader, NodeEvidence, NodeLogReader
from processors.diagnose.nodes.evidence import KEPT_S, NODES, PER_NODE
from processors.diagnose.nodes.finding import Finding
from processors.diagnose.nodes.gpu import GpuMemory
from records import Component, ErrorType, GpuProcess, GpuSample, NodeLogChunk, Position

SIGNATURES = load()
LOG, GPU = NodeLogReader(SIGNATURES), GpuReader(SIGNATURES)
AT = Position("node-logs", 0, 3)

KERNEL = [
    "usb 1-1: new high-speed USB device number 7",
    "NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=python, GPU has fallen off the bus.",
    "pcieport 0000:3a:00.0: AER: Corrected error received: 0000:3b:00.0",
    "pcieport 0000:3a:00.0: AER: Uncorrected (Fatal) error received: 0000:3b:00.0",
    "oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/slurm/uid_1000/job_17/step_0,task=python,pid=4242,uid=1000",
    "blk_update_request: I/O error, dev sda, sector 12345 op 0x0:(READ)",
    "mlx5_core 0000:5e:00.0 ib0: Link down",
    "python[4242]: ValueError: bad batch",
]


def kernel(lines: list[str], time: float = 1000.0) -> NodeLogChunk:
    return NodeLogChunk(node="n1", lines=lines, time=time, first_line=40, after_ms=list(range(len(lines))))


def sample(time: float = 1000.0, **fields: object) -> GpuSample:
    return GpuSample(id="s", node="n1", gpu=2, uuid="GPU-2", time=time, **fields)  # type: ignore[arg-type]


def test_a_kernel_log_tells_of_what_the_catalogue_knows() -> None:
    found = LOG.read(kernel(KERNEL), AT)
    assert [(one.cause, one.component) for one in found] == [
        ("xid_fallen_off_bus", Component.GPU),
        ("pcie_fatal", Component.NODE),
        ("oom_killer", Component.NODE),
        ("block_io_error", Component.STORAGE),
        ("ib_link_down", Component.NETWORK),
    ]
    assert [one.place.line for one in found] == [41, 43, 44, 45, 46]
    assert found[0].time == 1000.001
    assert [one.jobs for one in found] == [[], [], ["17"], [], []]


def test_counters_tell_by_their_growth_alone() -> None:
    memory: dict[str, GpuMemory] = {}
    first = sample(ecc_uncorrected=4, rows_remapped=1, nvlink_errors=10)
    assert GPU.read(first, AT, memory) == []
    assert GPU.read(first, AT, memory) == []
    (one,) = GPU.read(sample(ecc_uncorrected=6, rows_remapped=1, nvlink_errors=10), AT, memory)
    assert (one.cause, one.gpu, one.component) == ("ecc_uncorrected", 2, Component.GPU)
    assert "2 uncorrected memory errors" in one.place.text
    assert GPU.read(sample(ecc_uncorrected=0), AT, memory) == []  # the driver was loaded again
    (one,) = GPU.read(sample(nvlink_errors=99), AT, memory)
    assert one.component is Component.NVLINK


def test_xids_have_the_catalogues_meaning_and_harmless_ones_none() -> None:
    found = GPU.read(sample(xids=[79, 74, 31, 93], processes=[GpuProcess(pid=1, job="17")]), AT, {})
    assert [(one.cause, one.error_type) for one in found] == [
        ("xid_fallen_off_bus", ErrorType.INFRASTRUCTURE),
        ("xid_nvlink", ErrorType.INFRASTRUCTURE),
        ("xid_program_fault", ErrorType.USER_SCRIPT),
    ]
    assert all(one.jobs == ["17"] for one in found)


def test_a_lost_gpu_and_heat_are_told_once() -> None:
    memory: dict[str, GpuMemory] = {}
    lost = sample(error="GPU is lost", throttle_reasons=["hw_thermal_slowdown", "sw_power_cap"], temperature_c=91)
    found = GPU.read(lost, AT, memory)
    assert [one.cause for one in found] == ["gpu_unreadable", "gpu_held_back"]
    assert "91 °C" in found[1].place.text
    assert GPU.read(lost, AT, memory) == []


@given(st.lists(st.text(), max_size=20))
def test_any_log_is_read(lines: list[str]) -> None:
    LOG.read(kernel(lines), AT)


def finding(
    node: str = "n1", time: float = 1000.0, cause: str = "xid", line: int = 1, jobs: tuple[str, ...] = ()
) -> Finding:
    base = LOG.read(kernel([KERNEL[1]]), AT)[0]
    return msgspec.structs.replace(
        base, node=node, time=time, cause=cause, place=msgspec.structs.replace(base.place, line=line), jobs=list(jobs)
    )


def test_the_store_is_bounded_in_time_number_and_nodes() -> None:
    store = NodeEvidence()
    for number in range(200):
        store.add([finding(time=1000.0 + number, cause=f"c{number}")])
    assert len(store.nodes["n1"].findings) == PER_NODE
    store.add([finding(time=2000.0 + KEPT_S)])
    assert len(store.nodes["n1"].findings) == 1
    for number in range(NODES + 5):
        store.heard_log(f"m{number}", float(number))
    assert len(store.nodes) == NODES
    assert "m0" not in store.nodes
    assert msgspec.json.decode(msgspec.json.encode(store), type=NodeEvidence) == store


def test_what_repeats_is_one_and_what_concerns_another_job_is_left_out() -> None:
    store = NodeEvidence()
    store.add([finding(time=1000.0 + second, line=second + 1) for second in range(50)])
    store.add([finding(cause="oom", jobs=("17",))])
    assert [one.cause for one in store.between(["n1", "n2"], 900.0, 1100.0, "17")] == ["xid", "oom"]
    assert [one.cause for one in store.between(["n1"], 900.0, 1100.0, "18")] == ["xid"]
    assert store.between(["n1"], 1001.0, 1100.0, "17") == []


def test_gpus_are_watched_only_without_a_gap() -> None:
    store = NodeEvidence()
    for second in range(0, 300, 5):
        store.heard_gpu("n1", 1000.0 + second)
    assert store.gpus_watched("n1", 1010.0, 1290.0)
    store.heard_gpu("n1", 2000.0)
    assert not store.gpus_watched("n1", 1010.0, 1290.0)
    assert not store.gpus_watched("n2", 1010.0, 1290.0)
