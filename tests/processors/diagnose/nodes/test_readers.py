import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.diagnose.catalogue import load
from processors.diagnose.nodes import GpuReader, NodeLogReader
from processors.diagnose.nodes.gpu import GpuMemory
from processors.new_lines import NewLines
from schedmate_records import (
    Component,
    ErrorType,
    GpuProcess,
    GpuSample,
    NodeFinding,
    Position,
    RecoveryAction,
    Severity,
)

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


def read(lines: list[str], time: float = 1000.0) -> list[NodeFinding]:
    count = len(lines)
    fresh = NewLines(lines, range(40, 40 + count), [time + number / 1000 for number in range(count)], 0)
    return LOG.read("n1", "kernel", fresh, AT)


def sample(time: float = 1000.0, **fields: object) -> GpuSample:
    return GpuSample(id="s", node="n1", gpu=2, uuid="GPU-2", time=time, **fields)  # type: ignore[arg-type]


def test_a_kernel_log_tells_of_what_the_catalogue_knows() -> None:
    found = read(KERNEL)
    assert [(one.signature, one.component) for one in found] == [
        ("xid_fallen_off_bus", Component.GPU),
        ("aer_corrected", Component.NODE),
        ("pcie_fatal", Component.NODE),
        ("oom_killer", Component.NODE),
        ("block_io_error", Component.STORAGE),
        ("ib_link_down", Component.NETWORK),
    ]
    assert [one.place.line for one in found] == [41, 42, 43, 44, 45, 46]
    assert found[0].time == 1000.001
    assert [one.jobs for one in found] == [[], [], [], ["17"], [], []]
    assert [one.device for one in found] == ["0000:3b:00", "0000:3a:00.0", "0000:3a:00.0", "", "", "0000:5e:00.0"]
    assert [one.severity for one in found[:3]] == [Severity.FATAL, Severity.WARNING, Severity.FATAL]
    assert len({one.id for one in found}) == 6


def test_counters_tell_by_their_growth_alone() -> None:
    memory: dict[str, GpuMemory] = {}
    first = sample(ecc_uncorrected=4, rows_remapped=1, nvlink_errors=10)
    assert GPU.read(first, AT, memory) == []
    assert GPU.read(first, AT, memory) == []
    (one,) = GPU.read(sample(ecc_uncorrected=6, rows_remapped=1, nvlink_errors=10), AT, memory)
    assert (one.signature, one.gpu, one.component) == ("ecc_uncorrected", 2, Component.GPU)
    assert "2 uncorrected memory errors" in one.place.text
    assert GPU.read(sample(ecc_uncorrected=0), AT, memory) == []  # the driver was loaded again
    (one,) = GPU.read(sample(nvlink_errors=99), AT, memory)
    assert one.component is Component.NVLINK


@pytest.mark.parametrize(
    ("counter", "severity"),
    [
        ("ecc_uncorrected", Severity.FATAL),
        ("ecc_corrected", Severity.WARNING),
        ("rows_remapped", Severity.WARNING),
        ("nvlink_errors", Severity.WARNING),
    ],
)
def test_errors_that_the_hardware_corrected_are_warnings(counter: str, severity: Severity) -> None:
    memory: dict[str, GpuMemory] = {}
    GPU.read(sample(**{counter: 4}), AT, memory)
    (found,) = GPU.read(sample(**{counter: 5}), AT, memory)
    assert (found.signature, found.severity, found.drain) == (counter, severity, False)


def test_a_change_of_the_recovery_action_is_reported_once() -> None:
    memory: dict[str, GpuMemory] = {}
    assert GPU.read(sample(recovery_action=RecoveryAction.NONE), AT, memory) == []
    (found,) = GPU.read(sample(recovery_action=RecoveryAction.GPU_RESET), AT, memory)
    assert (found.signature, found.severity, found.drain) == ("gpu_recovery_action", Severity.FATAL, True)
    assert GPU.read(sample(recovery_action=RecoveryAction.GPU_RESET), AT, memory) == []
    assert GPU.read(sample(), AT, memory) == []
    (found,) = GPU.read(sample(recovery_action=RecoveryAction.NONE), AT, memory)
    assert (found.severity, found.recovery_action) == (Severity.WARNING, RecoveryAction.NONE)


def test_a_kernel_log_tells_of_a_fault_of_a_program() -> None:
    (found,) = read(["NVRM: Xid (PCI:0000:3b:00): 31, pid=4242, name=python, MMU Fault"])
    assert (found.signature, found.error_type, found.device) == (
        "xid_program_fault",
        ErrorType.USER_SCRIPT,
        "0000:3b:00",
    )


def test_xids_have_the_catalogues_meaning_and_harmless_ones_none() -> None:
    found = GPU.read(sample(xids=[79, 74, 31, 93], processes=[GpuProcess(pid=1, job="17")]), AT, {})
    assert [(one.signature, one.error_type) for one in found] == [
        ("xid_fallen_off_bus", ErrorType.INFRASTRUCTURE),
        ("xid_nvlink", ErrorType.INFRASTRUCTURE),
        ("xid_program_fault", ErrorType.USER_SCRIPT),
    ]
    assert all(one.jobs == ["17"] for one in found)


def test_a_lost_gpu_and_heat_are_told_once() -> None:
    memory: dict[str, GpuMemory] = {}
    lost = sample(error="GPU is lost", throttle_reasons=["hw_thermal_slowdown", "sw_power_cap"], temperature_c=91)
    found = GPU.read(lost, AT, memory)
    assert [one.signature for one in found] == ["gpu_unreadable", "gpu_held_back"]
    assert "91 °C" in found[1].place.text
    assert GPU.read(lost, AT, memory) == []


@pytest.mark.parametrize(
    ("error", "severity"),
    [
        ("GPU is lost", Severity.FATAL),
        ("NVML Error with code 28", Severity.FATAL),
        ("GPU requires restart", Severity.FATAL),
        ("Unknown Error", Severity.FATAL),
        ("ecc_corrected: Unknown Error", Severity.WARNING),
        ("processes: Insufficient Size", Severity.WARNING),
        ("Uninitialized", Severity.WARNING),
        ("Driver Not Loaded", Severity.WARNING),
        ("RM has detected an NVML/RM version mismatch.", Severity.WARNING),
        ("Timeout", Severity.WARNING),
    ],
)
def test_an_agent_that_cannot_ask_is_no_witness(error: str, severity: Severity) -> None:
    """The words are pynvml's; 28 is NVML_ERROR_GPU_NOT_FOUND."""
    (found,) = GPU.read(sample(error=error), AT, {})
    assert (found.signature, found.severity) == ("gpu_unreadable", severity)


def test_a_lost_gpu_concerns_the_job_that_it_held() -> None:
    memory: dict[str, GpuMemory] = {}
    GPU.read(sample(processes=[GpuProcess(pid=1, job="17")]), AT, memory)
    (lost,) = GPU.read(sample(error="GPU is lost"), AT, memory)
    assert lost.jobs == ["17"]
    (xid,) = GPU.read(sample(error="GPU is lost", xids=[79]), AT, memory)
    assert xid.jobs == ["17"]
    GPU.read(sample(processes=[GpuProcess(pid=2, job="18")]), AT, memory)
    GPU.read(sample(), AT, memory)
    (later,) = GPU.read(sample(xids=[79]), AT, memory)
    assert later.jobs == []


@given(st.lists(st.text(), max_size=20))
def test_any_log_is_read(lines: list[str]) -> None:
    read(lines)


@pytest.mark.parametrize(
    ("line", "jobs"),
    [
        (
            (
                "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=task_0,mems_allowed=0-1,"
                "oom_memcg=/system.slice/slurmstepd.scope/sJ3SK1QYD16X00/step_0/user,"
                "task_memcg=/system.slice/slurmstepd.scope/sJ3SK1QYD16X00/step_0/user/task_0,task=python,pid=4242,uid=1000"
            ),
            ["sJ3SK1QYD16X00"],
        ),
        (
            (
                "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/system.slice/slurmstepd.scope/sJ3SK1QYD16X00,"
                "task_memcg=/system.slice/slurmstepd.scope/sJ3SK1QYD16X00/step_batch/user/task_0,task=a,pid=1,uid=0"
            ),
            ["sJ3SK1QYD16X00"],
        ),
        (
            (
                "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/slurm/uid_1000/job_17,task_memcg=/slurm/uid_1000/job_17/step_0,"
                "task=/job_99,pid=1,uid=0"
            ),
            ["17"],
        ),
        ("oom-kill:constraint=CONSTRAINT_NONE,global_oom,task_memcg=/user.slice,task=x,y job_99,pid=1,uid=0", []),
        ("NVRM: Xid (PCI:0000:3b:00): 79, pid=4242, name=job_99, GPU has fallen off the bus.", []),
    ],
)
def test_the_names_of_control_groups_name_jobs_and_those_of_programs_do_not(line: str, jobs: list[str]) -> None:
    (found,) = read([line])
    assert found.jobs == jobs
