"""Samples of this machine's GPUs, through NVML (package nvidia-ml-py, module pynvml)."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pynvml as nvml
import structlog

from schedmate_records import GpuSample

from .nvml_reading import Handle, OwnerOf, read
from .processes import owner_of
from .source import GpuError, sample_id
from .xid import XidWatch

log = structlog.get_logger(__name__)

ADVICE = {
    nvml.NVML_ERROR_LIBRARY_NOT_FOUND: "libnvidia-ml.so.1, which comes with the NVIDIA driver, is not on this machine",
    nvml.NVML_ERROR_DRIVER_NOT_LOADED: "the NVIDIA kernel driver is not loaded (try nvidia-smi)",
    nvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "libnvidia-ml.so.1 and the kernel driver are of different versions"
    " (the driver was upgraded without a reboot)",
    nvml.NVML_ERROR_NO_PERMISSION: "the devices /dev/nvidia* may not be opened by this user",
}


@dataclass
class _Gpu:
    """State of a GPU between two samples. `handle` is None while it is lost."""

    index: int
    handle: Handle = None
    uuid: str = ""
    name: str = ""
    error: str = ""


class NvmlSource:
    """One sample of every GPU of this machine each time.

    A GPU that cannot be read gives a sample with `error` set and its other fields null, and is tried again the next time.

    Args:
        node: Name that the samples carry: the scheduler's name of this machine.
        owner: Finds the job of a process.

    Raises:
        GpuError: There is no NVML here, or it shows no GPU.
    """

    def __init__(self, node: str, clock: Callable[[], float] = time.time, owner: OwnerOf = owner_of) -> None:
        self.node = node
        self._clock = clock
        self._owner = owner
        try:
            nvml.nvmlInit()
            count = nvml.nvmlDeviceGetCount()
        except nvml.NVMLError as failure:
            reason = ADVICE.get(failure.value, str(failure))
            raise GpuError(
                f"expected an NVIDIA GPU, but {reason}. Run the GPU agent on a machine with the driver, "
                "or replay a recording: --replay FILE"
            ) from failure
        if count == 0:
            nvml.nvmlShutdown()
            raise GpuError(
                "expected an NVIDIA GPU, but NVML shows none. In a container, pass the devices in (--gpus all); "
                "without a GPU, replay a recording: --replay FILE"
            )
        self._gpus = [_Gpu(index) for index in range(count)]
        self._xids: XidWatch | None = XidWatch()

    @property
    def exhausted(self) -> bool:
        """False: GPUs go on."""
        return False

    @property
    def about(self) -> str:
        """The origin that recordings made from here state."""
        with contextlib.suppress(nvml.NVMLError):
            return f"recorded through NVML, driver {nvml.nvmlSystemGetDriverVersion()}"
        return "recorded through NVML"

    def sample(self) -> list[GpuSample]:
        """Return one sample of every GPU, all with the same time."""
        if self._xids is None:
            raise GpuError("expected an open NVML source, but it was closed")
        now = self._clock()
        xids = self._xids.pop_all()
        samples = [self._sample(gpu, now, xids.get(gpu.index, []), self._xids) for gpu in self._gpus]
        self._xids.start()
        return samples

    def close(self) -> None:
        """Stop listening for events and shut NVML down."""
        xids, self._xids = self._xids, None
        if xids is not None and xids.close():
            with contextlib.suppress(nvml.NVMLError):
                nvml.nvmlShutdown()

    def _sample(self, gpu: _Gpu, now: float, xids: list[int], watch: XidWatch) -> GpuSample:
        values: dict[str, Any] = {}
        try:
            found = gpu.handle is None
            if found:
                self._open(gpu)
            values, error = read(gpu.handle, self._owner)
            if found:
                watch.watch(gpu.index, gpu.handle)
        except nvml.NVMLError as failure:
            error = str(failure)
            gpu.handle = None  # a GPU that was reset may come back under another handle
        self._log_change(gpu, error)
        return GpuSample(
            id=sample_id(self.node, gpu.index, now),
            node=self.node,
            gpu=gpu.index,
            uuid=gpu.uuid,
            name=gpu.name,
            time=now,
            xids=xids,
            error=error,
            **values,
        )

    @staticmethod
    def _open(gpu: _Gpu) -> None:
        handle = nvml.nvmlDeviceGetHandleByIndex(gpu.index)
        gpu.uuid, gpu.name = nvml.nvmlDeviceGetUUID(handle), nvml.nvmlDeviceGetName(handle)
        gpu.handle = handle

    @staticmethod
    def _log_change(gpu: _Gpu, error: str) -> None:
        """Log once when a GPU begins to fail and once when it works again."""
        if error and not gpu.error:
            log.error("gpu_unreadable", gpu=gpu.index, uuid=gpu.uuid, error=error)
        elif gpu.error and not error:
            log.info("gpu_readable_again", gpu=gpu.index, uuid=gpu.uuid)
        gpu.error = error
