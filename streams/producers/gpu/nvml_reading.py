"""Reads one GPU through NVML, field by field.

Source: NVIDIA's NVML API reference, "Device Queries". No GPU and no driver has every field: data-centre boards have no fan,
consumer boards no ECC, a MIG parent no utilisation, an old driver not the newest calls.
"""

import ctypes
from collections.abc import Callable
from typing import Any

import pynvml as nvml

from schedmate_records import GpuProcess, RecoveryAction

from .processes import Owner

Handle = Any
"""NVML's opaque device handle, a ctypes pointer."""

ABSENT = frozenset(
    {
        nvml.NVML_ERROR_NOT_SUPPORTED,
        nvml.NVML_ERROR_NO_PERMISSION,
        nvml.NVML_ERROR_NOT_FOUND,
        nvml.NVML_ERROR_INVALID_ARGUMENT,
        nvml.NVML_ERROR_FUNCTION_NOT_FOUND,
        nvml.NVML_ERROR_VGPU_ECC_NOT_SUPPORTED,
        nvml.NVML_ERROR_NO_DATA,
        nvml.NVML_ERROR_NOT_READY,
        nvml.NVML_ERROR_DEPRECATED,
        nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
    }
)
"""Answers that mean "this GPU or driver has no such field": the field is null and nothing is wrong."""


THROTTLE_REASONS = {
    nvml.nvmlClocksThrottleReasonGpuIdle: "gpu_idle",
    nvml.nvmlClocksThrottleReasonApplicationsClocksSetting: "applications_clocks_setting",
    nvml.nvmlClocksThrottleReasonSwPowerCap: "sw_power_cap",
    nvml.nvmlClocksThrottleReasonHwSlowdown: "hw_slowdown",
    nvml.nvmlClocksThrottleReasonSyncBoost: "sync_boost",
    nvml.nvmlClocksThrottleReasonSwThermalSlowdown: "sw_thermal_slowdown",
    nvml.nvmlClocksThrottleReasonHwThermalSlowdown: "hw_thermal_slowdown",
    nvml.nvmlClocksThrottleReasonHwPowerBrakeSlowdown: "hw_power_brake_slowdown",
    nvml.nvmlClocksThrottleReasonDisplayClockSetting: "display_clock_setting",
}


OwnerOf = Callable[[int], Owner]


def read(handle: Handle, owner_of: OwnerOf) -> tuple[dict[str, Any], str]:
    """Return the fields of a `GpuSample` that this GPU answers for, and the problems that NVML reported (empty: none).

    A field that is absent is left out; a field that fails is left out and the first such is named.

    Raises:
        NVMLError: The GPU is lost. It is not asked further.
    """
    values: dict[str, Any] = {}
    error = ""
    fields: dict[str, Callable[[Handle], Any]] = {
        **_FIELDS,
        "processes": lambda handle: [_process(found, owner_of) for found in _compute_processes(handle)],
    }
    for field, ask in fields.items():
        try:
            values[field] = ask(handle)
        except nvml.NVMLError as failure:
            # No other field of such a GPU is worth asking for: each question to a dead GPU may take seconds.
            if failure.value in (
                nvml.NVML_ERROR_GPU_IS_LOST,
                nvml.NVML_ERROR_GPU_NOT_FOUND,
                nvml.NVML_ERROR_UNINITIALIZED,
            ):
                raise
            if failure.value not in ABSENT and not error:
                error = f"{field}: {failure}"
    return values, error


def _first(*asks: Callable[[Handle], Any]) -> Callable[[Handle], Any]:
    """Return a question that tries the next wording where a driver does not know the one before."""

    def ask(handle: Handle) -> Any:
        for one in asks[:-1]:
            try:
                return one(handle)
            except nvml.NVMLError as failure:
                if failure.value not in ABSENT:
                    raise
        return asks[-1](handle)

    return ask


def throttle_names(mask: int) -> list[str]:
    """Return the names of the bits that are set in NVML's mask; a bit that is newer than this code is `bit_N`."""
    bits = (bit for bit in range(mask.bit_length()) if mask >> bit & 1)
    return [THROTTLE_REASONS.get(1 << bit, f"bit_{bit}") for bit in bits]


def _nvlink_active(handle: Handle) -> int:
    active = 0
    for link in range(nvml.NVML_NVLINK_MAX_LINKS):
        try:
            active += nvml.nvmlDeviceGetNvLinkState(handle, link)
        except nvml.NVMLError as failure:
            # A GPU without NVLink refuses its first link; one with it refuses the first number beyond its last link.
            if link == 0 or failure.value not in ABSENT:
                raise
            break
    return active


def _nvlink_errors(handle: Handle) -> int:
    answers = nvml.nvmlDeviceGetFieldValues(
        handle,
        [
            nvml.NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL,
            nvml.NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL,
            nvml.NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL,
            nvml.NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL,
            nvml.NVML_FI_DEV_NVLINK_ECC_DATA_ERROR_COUNT_TOTAL,
        ],
    )
    counts = [_field_value(answer) for answer in answers if answer.nvmlReturn == nvml.NVML_SUCCESS]
    if not counts:
        raise nvml.NVMLError(answers[0].nvmlReturn)
    return sum(counts)


def _recovery_action(handle: Handle) -> RecoveryAction:
    (answer,) = nvml.nvmlDeviceGetFieldValues(handle, [nvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION])
    if answer.nvmlReturn != nvml.NVML_SUCCESS:
        raise nvml.NVMLError(answer.nvmlReturn)
    return RecoveryAction.from_nvml(_field_value(answer))


def _field_value(answer: Any) -> int:
    if answer.valueType == nvml.NVML_VALUE_TYPE_UNSIGNED_INT:
        return int(answer.value.uiVal)
    if answer.valueType == nvml.NVML_VALUE_TYPE_UNSIGNED_LONG:
        return int(answer.value.ulVal)
    return int(answer.value.ullVal)


def _process(found: Any, owner_of: OwnerOf) -> GpuProcess:
    owner = owner_of(found.pid)
    return GpuProcess(pid=found.pid, memory_bytes=found.usedGpuMemory, job=owner.job, rank=owner.rank)


def _memory(handle: Handle) -> Any:
    """Version 2 leaves out what the driver reserves, as nvidia-smi does; drivers before 510 know only version 1."""
    return nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)


def _ecc(kind: int) -> Callable[[Handle], Any]:
    return lambda handle: nvml.nvmlDeviceGetTotalEccErrors(handle, kind, nvml.NVML_VOLATILE_ECC)


_any_memory = _first(_memory, nvml.nvmlDeviceGetMemoryInfo)
_compute_processes = _first(nvml.nvmlDeviceGetComputeRunningProcesses_v3, nvml.nvmlDeviceGetComputeRunningProcesses_v2)
_throttle_mask = _first(nvml.nvmlDeviceGetCurrentClocksEventReasons, nvml.nvmlDeviceGetCurrentClocksThrottleReasons)

_FIELDS: dict[str, Callable[[Handle], Any]] = {
    "utilisation": lambda handle: nvml.nvmlDeviceGetUtilizationRates(handle).gpu,
    "memory_utilisation": lambda handle: nvml.nvmlDeviceGetUtilizationRates(handle).memory,
    "memory_used_bytes": lambda handle: _any_memory(handle).used,
    "memory_total_bytes": lambda handle: _any_memory(handle).total,
    "power_watts": lambda handle: nvml.nvmlDeviceGetPowerUsage(handle) / 1000,
    "temperature_c": lambda handle: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
    "sm_clock_mhz": lambda handle: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
    "memory_clock_mhz": lambda handle: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM),
    "throttle_reasons": lambda handle: throttle_names(_throttle_mask(handle)),
    "ecc_corrected": _ecc(nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED),
    "ecc_uncorrected": _ecc(nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED),
    "rows_remapped": lambda handle: nvml.nvmlDeviceGetRemappedRows(handle)[1],
    "nvlink_errors": _nvlink_errors,
    "nvlink_active": _nvlink_active,
    "recovery_action": _recovery_action,
}


def address(handle: Handle) -> int | None:
    """Return the pointer that `handle` is, by which NVML's events name their GPU."""
    return ctypes.cast(handle, ctypes.c_void_p).value
