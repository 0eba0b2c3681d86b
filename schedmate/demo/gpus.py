"""GPU samples for the demo: NVML where there is a GPU, else the recording that ships."""

import socket
import threading

from streams.memory import MemoryBroker
from streams.producers.gpu.agent import GpuAgent
from streams.producers.gpu.nvml import NvmlSource
from streams.producers.gpu.recording import RecordingSource, shipped_recording
from streams.producers.gpu.source import GpuError, GpuSource


class Gpus:
    """The GPU agent on a thread of its own. `label` names the source of the samples."""

    def __init__(self, broker: MemoryBroker) -> None:
        self.label, source = _source()
        # The screen shows a new sample each second.
        self._agent = GpuAgent(source, broker.producer, 1.0)
        self._thread = threading.Thread(target=self._agent.run, name="gpu-agent", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Send what is left, and end the thread."""
        self._agent.stop()
        self._thread.join()


def _source() -> tuple[str, GpuSource]:
    try:
        return "NVML: the GPUs of this machine", NvmlSource(socket.gethostname().partition(".")[0])
    except GpuError:
        recording = RecordingSource(shipped_recording(), loop=True)
        what = "a made-up recording" if recording.made_up else "a recording"
        return f"{what}: NVML finds no GPU here", recording
