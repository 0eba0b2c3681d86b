"""Writes the recording that ships, which is synthetic: `python -m tests.streams.producers.gpu.made_up`.

No GPU was measured for it. It shows what the fields look like when four GPUs of one node train, one of them too hot, one with
a memory error that ends its job, one that falls off the bus for a while. The same bytes every time.
"""

import math
from collections.abc import Iterator
from typing import Any

from schedmate_records import GpuProcess, GpuSample
from streams.producers.gpu.recording import RecordingWriter, shipped_recording
from streams.producers.gpu.source import sample_id

NODE = "made-up-node"
ABOUT = "synthetic: no GPU was measured"
BEGIN = 1_767_225_600.0  # 2026-01-01, an arbitrary date
STEP_S = 3  # keeps the recording small
STEPS = 41  # two minutes
GIB = 1 << 30

HOT = range(24, 90)
"""Seconds in which GPU 1 is too hot."""
MEMORY_ERROR = 30
"""Second of GPU 2's uncorrectable memory error: Xid 94 (contained), Xid 63 (a row is remapped); the job dies of it."""
OFF_THE_BUS = range(60, 81)
"""Seconds in which GPU 3 is lost. Xid 79 is seen in the last sample before."""


def samples() -> Iterator[GpuSample]:
    """Yield the samples, by time and GPU."""
    for second in range(0, STEPS * STEP_S, STEP_S):
        yield _sample(0, second, **_busy(0, second))
        yield _sample(1, second, **_too_hot(second))
        yield _sample(2, second, **_memory_error(second))
        yield _sample(3, second, **_falls_off_the_bus(second))


def _sample(gpu: int, second: int, **values: Any) -> GpuSample:
    time = BEGIN + second
    return GpuSample(
        id=sample_id(NODE, gpu, time),
        node=NODE,
        gpu=gpu,
        uuid=f"GPU-made-up-{gpu}",
        name="made-up GPU 80GB",
        time=time,
        recorded=True,
        **values,
    )


def _busy(gpu: int, second: int) -> dict[str, Any]:
    """A GPU that trains: every sixth sample falls between two steps."""
    wave = math.sin(second / 7 + gpu)
    between = (second // STEP_S + gpu) % 6 == 5
    return {
        "utilisation": 61 if between else round(96 + 3 * wave),
        "memory_utilisation": 35 if between else round(64 + 4 * wave),
        "memory_used_bytes": 68 * GIB + gpu * (GIB >> 2),
        "memory_total_bytes": 80 * GIB,
        "power_watts": round((410 if between else 615) + 35 * wave, 1),
        "temperature_c": round(66 + gpu + 2 * wave),
        "sm_clock_mhz": 1755,
        "memory_clock_mhz": 2619,
        "throttle_reasons": ["sw_power_cap"] if wave > 0.8 and not between else [],
        "ecc_corrected": 0,
        "ecc_uncorrected": 0,
        "rows_remapped": 0,
        "nvlink_errors": 0,
        "nvlink_active": 18,
        "processes": [GpuProcess(pid=40_000 + gpu, memory_bytes=67 * GIB, job=f"made-up-{gpu // 2}", rank=gpu % 2)],
    }


def _too_hot(second: int) -> dict[str, Any]:
    values = _busy(1, second)
    if second not in HOT:
        return values
    slowed = {"throttle_reasons": ["hw_thermal_slowdown"], "temperature_c": 89, "sm_clock_mhz": 1155}
    return values | slowed | {"power_watts": 418.5}


def _memory_error(second: int) -> dict[str, Any]:
    values = _busy(2, second)
    if second < MEMORY_ERROR:
        return values
    values |= {"ecc_corrected": 2, "ecc_uncorrected": 1, "rows_remapped": 1}
    if second == MEMORY_ERROR:
        return values | {"xids": [94, 63]}
    return values | {
        "utilisation": 0,
        "memory_utilisation": 0,
        "memory_used_bytes": GIB,
        "power_watts": 72.5,
        "temperature_c": 41,
        "sm_clock_mhz": 345,
        "throttle_reasons": ["gpu_idle"],
        "processes": [],
    }


def _falls_off_the_bus(second: int) -> dict[str, Any]:
    if second in OFF_THE_BUS:
        return {"error": "GPU is lost"}
    return _busy(3, second) | ({"xids": [79]} if second == OFF_THE_BUS.start - STEP_S else {})


if __name__ == "__main__":
    path = shipped_recording()
    path.unlink(missing_ok=True)
    writer = RecordingWriter(path, ABOUT, made_up=True)
    writer.write(list(samples()))
    writer.close()
