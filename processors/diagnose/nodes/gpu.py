"""Samples of GPUs to findings: Xid events, counters of errors that grew, the recovery action, a GPU that cannot be read, clocks held back.

Counters count since the driver was loaded, so only growth between two samples of one GPU says anything of the time between them.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from schedmate_records import Component, Evidence, GpuSample, NodeFinding, Position, RecoveryAction, Severity

from .. import kinds
from ..catalogue import Signature
from ..matcher import Matcher
from .finding import finding, of_signature

HELD_BACK = frozenset({"hw_thermal_slowdown", "sw_thermal_slowdown", "hw_power_brake_slowdown", "hw_slowdown"})
"""Reasons for low clocks that point to the hardware's surroundings, not to the job (NVML, nvmlClocksEventReasons)."""

_OF_THE_GPU = re.compile(r"GPU is lost|GPU requires restart|Not Found|Power|Interrupt|infoROM|Unknown Error|code 28\b")
"""NVML's words for a GPU that is gone or ill. Others are about whoever asks: a library that is not initialised or of another version, a
driver that is not loaded, a right that is missing."""
_OF_A_FIELD = re.compile(r"\w+: ", re.ASCII)
"""So begins what NVML said of one field. The GPU answers for the others."""
GONE, DOUBTFUL = 0.93, 0.4
"""Confidence in a GPU that cannot be read, by its own fault, or for whatever reason."""


class CounterMeaning(NamedTuple):
    """What the growth of a counter of `GpuSample` means.

    Attributes:
        name: Field of the sample; also the signature of the finding.
        words: The errors that it counts.
        kind: Place in the graph of causes and consequences.
        component: What is faulty.
        severity: Severity of one sample in which it grew.
        confidence: Confidence in that.
        repeats: Errors from which it is one level worse; 0: it stays what it is.
        within_s: Time in which they count, in seconds.
    """

    name: str
    words: str
    kind: str
    component: Component
    severity: Severity
    confidence: float
    repeats: int = 0
    within_s: float = 0.0


COUNTERS = (
    CounterMeaning("ecc_uncorrected", "uncorrected memory errors", kinds.DEVICE, Component.GPU, Severity.FATAL, 0.95),
    CounterMeaning(
        "ecc_corrected", "corrected memory errors", kinds.WARNING, Component.GPU, Severity.WARNING, 0.9, 100, 3600.0
    ),
    CounterMeaning(
        "rows_remapped",
        "rows remapped for uncorrected errors",
        kinds.WARNING,
        Component.GPU,
        Severity.WARNING,
        0.9,
        3,
        86400.0,
    ),
    CounterMeaning("nvlink_errors", "NVLink errors", kinds.PEER, Component.NVLINK, Severity.WARNING, 0.6, 100, 3600.0),
)
"""Errors that the hardware corrects are warnings (NVIDIA, GPU Memory Error Management; NVML, NVLink error counters)."""

_RECOVERY = {
    RecoveryAction.NONE: (kinds.WARNING, Severity.WARNING),
    RecoveryAction.GPU_RESET: (kinds.DEVICE, Severity.FATAL),
    RecoveryAction.NODE_REBOOT: (kinds.DEVICE, Severity.FATAL),
    RecoveryAction.BUS_RESET: (kinds.DEVICE, Severity.FATAL),
    RecoveryAction.SYSTEM_REBOOT: (kinds.DEVICE, Severity.FATAL),
}
"""Kind and severity of a recovery action; any other is an error."""


class GpuMemory(msgspec.Struct):
    """The counters of one GPU as last seen, its complaints that were told already, and the jobs whose processes it held."""

    ecc_uncorrected: int | None = None
    ecc_corrected: int | None = None
    rows_remapped: int | None = None
    nvlink_errors: int | None = None
    recovery_action: RecoveryAction = RecoveryAction.NONE
    error: str = ""
    held_back: list[str] = []
    jobs: list[str] = []


class GpuReader:
    """Reads samples. Holds the catalogue, for the meaning of Xid numbers; what is remembered of a node's GPUs goes in and out."""

    def __init__(self, signatures: Sequence[Signature]) -> None:
        self._matcher = Matcher([one for one in signatures if one.driver_event])

    def read(self, sample: GpuSample, position: Position, memory: dict[str, GpuMemory]) -> list[NodeFinding]:
        """Return what `sample`, which stands at `position`, tells; `memory` (by GPU) moves on."""
        last = memory.setdefault(sample.uuid or str(sample.gpu), GpuMemory())
        # What went wrong since the sample before concerns the jobs of then too: their processes may be gone, and a lost GPU shows none.
        jobs = sorted({*last.jobs, *_jobs(sample)})
        told = [one for number in sample.xids if (one := self._xid(number, sample, position, jobs)) is not None]
        for counter in COUNTERS:
            before, now = getattr(last, counter.name), getattr(sample, counter.name)
            if now is None:
                continue
            if before is not None and now > before:
                text = f"GPU {sample.gpu}: {now - before} {counter.words} since the sample before ({now} in all)"
                told.append(_of_counter(counter, text, sample, position, jobs))
            setattr(last, counter.name, now)
        action = sample.recovery_action
        if action is not None and action is not last.recovery_action:
            told.append(_recovery(action, sample, position, jobs))
            last.recovery_action = action
        if sample.error and sample.error != last.error:
            text = f"GPU {sample.gpu} cannot be read: {sample.error[:200]}"
            told.append(
                _made(
                    "gpu_unreadable", text, kinds.DEVICE, Component.GPU, _sureness(sample.error), sample, position, jobs
                )
            )
        reasons = sorted(HELD_BACK & set(sample.throttle_reasons or ()))
        if reasons and reasons != last.held_back:
            heat = f", {sample.temperature_c} °C" if sample.temperature_c is not None else ""
            text = f"GPU {sample.gpu}: clocks held back by {', '.join(reasons)}{heat}"
            told.append(_made("gpu_held_back", text, kinds.PEER, Component.GPU, 0.4, sample, position, jobs))
        last.error, last.held_back = sample.error, reasons
        if not sample.error:
            last.jobs = _jobs(sample)
        return told

    def _xid(self, number: int, sample: GpuSample, position: Position, jobs: list[str]) -> NodeFinding | None:
        line = f"NVRM: Xid (): {number}"  # NVML gives the number alone
        one = self._matcher.signature(self._matcher.find([line])[0], line)
        if one is None or one.kind == kinds.BENIGN:
            return None
        place = _place(f"GPU {sample.gpu}: Xid {number}", position)
        return of_signature(one, line, sample.node, sample.time, place, sample.gpu, jobs)


def _sureness(error: str) -> float:
    """Return how sure an error is the GPU's own: an agent that does not work is no witness against a node."""
    return GONE if _OF_THE_GPU.search(error) and not _OF_A_FIELD.match(error) else DOUBTFUL


def _of_counter(
    counter: CounterMeaning, text: str, sample: GpuSample, position: Position, jobs: list[str]
) -> NodeFinding:
    return finding(
        sample.node,
        sample.time,
        _place(text, position),
        signature=counter.name,
        kind=counter.kind,
        component=counter.component,
        confidence=counter.confidence,
        level=counter.severity,
        gpu=sample.gpu,
        jobs=jobs,
    )


def _recovery(action: RecoveryAction, sample: GpuSample, position: Position, jobs: list[str]) -> NodeFinding:
    """Return the finding that the driver states `action` for a GPU."""
    kind, level = _RECOVERY.get(action, (kinds.DEVICE, Severity.ERROR))
    made = finding(
        sample.node,
        sample.time,
        _place(f"GPU {sample.gpu}: the driver's recovery action is {action}", position),
        signature="gpu_recovery_action",
        kind=kind,
        component=Component.GPU,
        confidence=0.9,
        level=level,
        drain=level is Severity.FATAL,
        gpu=sample.gpu,
        jobs=jobs,
    )
    return msgspec.structs.replace(made, recovery_action=action)


def _made(  # noqa: PLR0917  # a sentence, its meaning and its place
    cause: str,
    text: str,
    kind: str,
    component: Component,
    confidence: float,
    sample: GpuSample,
    position: Position,
    jobs: list[str],
) -> NodeFinding:
    return finding(
        sample.node,
        sample.time,
        _place(text, position),
        signature=cause,
        kind=kind,
        component=component,
        confidence=confidence,
        drain=confidence >= GONE,
        gpu=sample.gpu,
        jobs=jobs,
    )


def _place(text: str, position: Position) -> Evidence:
    return Evidence(
        topic=position.topic, partition=position.partition, offset=position.offset, line=1, text=text, stream="gpu"
    )


def _jobs(sample: GpuSample) -> list[str]:
    return sorted({one.job for one in sample.processes if one.job})
