"""Topic `alarms`: alarms on running jobs."""

from enum import StrEnum

from .base import Evidence, Record
from .gpu_activity import GpuState


class AlarmKind(StrEnum):
    """Kind of alarm. Each description ends with the unit of the alarm's numbers."""

    LOSS_NOT_FINITE = "loss_not_finite"
    """The loss is NaN or infinite. No number."""
    LOSS_SPIKE = "loss_spike"
    """The loss is far above its recent values. Loss."""
    HANG = "hang"
    """No report for many times the usual interval, outside of known phases. Seconds."""
    GPUS_IDLE = "gpus_idle"
    """Allocated GPUs are idle. Seconds of the longest idle GPU."""
    SLOWER = "slower"
    """Steps take longer than they did before. Seconds per step."""
    STRAGGLER = "straggler"
    """One rank is slower than the others. Its seconds per step, and the median of all ranks."""

    @property
    def describes_ended(self) -> bool:
        """Whether the alarm still describes an attempt that ended while it was raised."""
        return self is AlarmKind.LOSS_NOT_FINITE


class Alarm(Record, frozen=True, kw_only=True):
    """An alarm on a running job was raised or is over. Key: the job.

    Attributes:
        id: Follows from the input position.
        job: The scheduler's job id.
        attempt: Restart count.
        incarnation: Which job of this id it is (`schedmate_records/incarnation.py`); empty where not known.
        node: Host of the rank that the alarm is about (`hang`: the missing rank, or the first one that fell silent); empty where not known.
        rank: That rank; null if the alarm concerns the whole job, or where not known.
        kind: Kind of alarm.
        raised: True if the alarm begins, false if it is over.
        time: Arrival of the line that shows the beginning or the end, in seconds since 1970.
        since: Start of the condition, in seconds since 1970.
        value: Measured value.
        usual: Usual value before that.
        limit: The number beyond which `value` is an alarm.
        activity: `hang`: what the job's GPUs did meanwhile, `waiting` or `idle`; null where only the log shows the hang.
            `gpus_idle`: `idle` where all GPUs of the job are.
        gpu_hours: `gpus_idle` only: GPU-hours without work so far.
        detail: The same in a sentence.
        evidence: The line that shows it, then an earlier one.
    """

    id: str
    job: str
    attempt: int = 0
    incarnation: str = ""
    node: str = ""
    rank: int | None = None
    kind: AlarmKind
    raised: bool
    time: float
    since: float
    value: float | None = None
    usual: float | None = None
    limit: float | None = None
    activity: GpuState | None = None
    gpu_hours: float | None = None
    detail: str
    evidence: list[Evidence] = []
