"""Sources of GPU samples."""

from typing import Protocol

from schedmate_records import GpuSample, UserError


class GpuError(UserError):
    """No GPU can be sampled at all; the message states what to do. One sick GPU among others is never an error."""


class GpuSource(Protocol):
    """Gives samples when asked. Used from one thread."""

    @property
    def exhausted(self) -> bool:
        """True once there will never be another sample."""

    def sample(self) -> list[GpuSample]:
        """Return the current samples: for real GPUs one sample each.

        Raises:
            GpuError: Nothing could be sampled this time. The next call may succeed.
        """

    def close(self) -> None:
        """Let go of all resources. A second call does nothing."""


def sample_id(node: str, gpu: int, time: float) -> str:
    """Return the id of the sample of `gpu` of `node` at `time` (seconds since 1970, with a resolution of one millisecond)."""
    return f"gpu/{node}/{gpu}/{round(time * 1000)}"
