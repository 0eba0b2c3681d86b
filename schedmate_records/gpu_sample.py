"""Topic `gpu-metrics`: one NVML sample of one GPU."""

import msgspec

from .base import Record
from .recovery_action import RecoveryAction


class GpuProcess(msgspec.Struct, frozen=True, kw_only=True):
    """A process that holds memory on the GPU. `job` and `rank` come from its environment; null where it has none."""

    pid: int
    memory_bytes: int | None = None
    job: str | None = None
    rank: int | None = None


class GpuSample(Record, frozen=True, kw_only=True):
    """The state of one GPU at one moment. Key: the node. A field that this GPU or driver does not report is null.

    Attributes:
        id: Identity of the sample: node, GPU and time.
        node: Host name.
        gpu: NVML index.
        uuid: NVML UUID.
        name: Product name.
        time: Seconds since 1970.
        utilisation: Percent of the time in which a kernel ran.
        memory_utilisation: Percent of the time in which the GPU's memory was read or written. A kernel that waits for ever keeps
            `utilisation` at 100 and this at 0.
        memory_used_bytes: Frame buffer in use.
        memory_total_bytes: Frame buffer in all.
        power_watts: Board power.
        temperature_c: Core temperature, in degrees Celsius.
        sm_clock_mhz: Clock of the multiprocessors.
        memory_clock_mhz: Clock of the memory.
        throttle_reasons: NVML's names of what holds the clocks back, without the prefix (`sw_power_cap`, `hw_thermal_slowdown`).
        ecc_corrected: Corrected memory errors since the driver was loaded.
        ecc_uncorrected: Uncorrected memory errors since the driver was loaded.
        rows_remapped: Rows remapped for uncorrected errors.
        nvlink_errors: Sum of the error counters of all NVLinks.
        nvlink_active: Number of active links.
        xids: Xid events since the sample before.
        recovery_action: What the GPU needs to recover, as the driver states it; null where it has no such field.
        processes: Compute processes.
        recorded: True where the sample was replayed from a recording.
        error: NVML's error where the GPU could not be read (`GPU is lost`); empty for a healthy one.
    """

    id: str
    node: str
    gpu: int
    uuid: str = ""
    name: str = ""
    time: float
    utilisation: int | None = None
    memory_utilisation: int | None = None
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    power_watts: float | None = None
    temperature_c: int | None = None
    sm_clock_mhz: int | None = None
    memory_clock_mhz: int | None = None
    throttle_reasons: list[str] | None = None
    ecc_corrected: int | None = None
    ecc_uncorrected: int | None = None
    rows_remapped: int | None = None
    nvlink_errors: int | None = None
    nvlink_active: int | None = None
    xids: list[int] = []
    recovery_action: RecoveryAction | None = None
    processes: list[GpuProcess] = []
    recorded: bool = False
    error: str = ""
