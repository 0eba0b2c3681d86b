"""Reads samples of GPUs for findings: Xids, growing error counters, the recovery action, an unreadable GPU, throttled clocks.

Counters count since the driver was loaded, so only growth between two samples of one GPU shows an error between them.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from schedmate_records import Component, Evidence, GpuSample, NodeFinding, Position, RecoveryAction, Severity

from ..catalogue import Signature
from ..kinds import Kind
from ..matcher import Matcher
from .finding import finding_from_signature, make_finding

THROTTLED = frozenset({"hw_thermal_slowdown", "sw_thermal_slowdown", "hw_power_brake_slowdown", "hw_slowdown"})
"""Reasons for low clocks that point to the hardware's surroundings, not to the job (NVML, nvmlClocksEventReasons)."""
_GPU_ERROR = re.compile(
    r"(?!\w+: ).*(?:GPU is lost|GPU requires restart|Not Found|Power|Interrupt|infoROM|Unknown Error|code 28\b)", re.ASCII
)  # fmt: skip
"""NVML's messages about a GPU that is lost or faulty. Others are about the caller: a library of another version, a driver that is not
loaded, a missing permission. A message about one field begins with its name; the GPU answers for the others then."""
UNREADABLE, DOUBTFUL = 0.93, 0.4
"""Confidence in an unreadable GPU by its own fault, and for another reason."""


class CounterMeaning(NamedTuple):
    """Meaning of the growth of a counter of `GpuSample`.

    Attributes:
        name: Field of the sample; also the signature of the finding.
        words: The errors that it counts.
        kind: Kind of the finding.
        component: What is faulty.
        severity: Severity of one sample in which it grew.
        confidence: Confidence in that.
        repeats: Number of errors from which it is one level worse; 0: never.
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


_GPU, _WARNING = Component.GPU, Severity.WARNING
COUNTERS = (
    CounterMeaning("ecc_uncorrected", "uncorrected memory errors", Kind.DEVICE, _GPU, Severity.FATAL, 0.95),
    CounterMeaning("ecc_corrected", "corrected memory errors", Kind.WARNING, _GPU, _WARNING, 0.9, 100, 3600.0),
    CounterMeaning("rows_remapped", "rows remapped for uncorrected errors", Kind.WARNING, _GPU, _WARNING, 0.9, 3, 86400.0),
    CounterMeaning("nvlink_errors", "NVLink errors", Kind.PEER, Component.NVLINK, _WARNING, 0.6, 100, 3600.0),
)  # fmt: skip
"""Errors that the hardware corrects are warnings (NVIDIA, GPU Memory Error Management; NVML, NVLink error counters)."""


class GpuMemory(msgspec.Struct):
    """The newest counters of one GPU, what was reported of it, and the jobs whose processes it held."""

    ecc_uncorrected: int | None = None
    ecc_corrected: int | None = None
    rows_remapped: int | None = None
    nvlink_errors: int | None = None
    recovery_action: RecoveryAction = RecoveryAction.NONE
    error: str = ""
    held_back: list[str] = []
    jobs: list[str] = []


class GpuReader:
    """Reads samples. Holds the catalogue, for the meaning of Xids; the state of a node's GPUs is an argument."""

    def __init__(self, signatures: Sequence[Signature]) -> None:
        self._matcher = Matcher([one for one in signatures if one.driver_event])

    def read(self, sample: GpuSample, position: Position, memory: dict[str, GpuMemory]) -> list[NodeFinding]:
        """Return the findings in `sample`, at `position`; `memory` (by GPU) is updated."""
        last = memory.setdefault(sample.uuid or str(sample.gpu), GpuMemory())
        running = sorted({one.job for one in sample.processes if one.job})
        # An error since the sample before concerns the jobs of then too: their processes may be gone, and a lost GPU shows none.
        source = _Source(sample, position, sorted({*last.jobs, *running}))
        found = [self._xid(number, source) for number in sample.xids]
        for counter in COUNTERS:
            before, now = getattr(last, counter.name), getattr(sample, counter.name)
            if now is None:
                continue
            if before is not None and now > before:
                text = f"GPU {sample.gpu}: {now - before} {counter.words} since the sample before ({now} in all)"
                name, _, kind, component, level, confidence = counter[:6]
                found.append(source.finding(text, name, kind, component, confidence, level=level))
            setattr(last, counter.name, now)
        action = sample.recovery_action
        if action is not None and action is not last.recovery_action:
            found.append(_recovery(action, source))
            last.recovery_action = action
        if sample.error and sample.error != last.error:
            text = f"GPU {sample.gpu} cannot be read: {sample.error[:200]}"
            faulty = (
                _GPU_ERROR.match(sample.error) is not None
            )  # an agent that does not work is no evidence against a node
            confidence = UNREADABLE if faulty else DOUBTFUL
            found.append(source.finding(text, "gpu_unreadable", Kind.DEVICE, _GPU, confidence, drain=faulty))
        reasons = sorted(THROTTLED & set(sample.throttle_reasons or ()))
        if reasons and reasons != last.held_back:
            heat = f", {sample.temperature_c} °C" if sample.temperature_c is not None else ""
            text = f"GPU {sample.gpu}: clocks held back by {', '.join(reasons)}{heat}"
            found.append(source.finding(text, "gpu_held_back", Kind.PEER, _GPU, 0.4))
        last.error, last.held_back = sample.error, reasons
        if not sample.error:
            last.jobs = running
        return [one for one in found if one is not None]

    def _xid(self, number: int, source: "_Source") -> NodeFinding | None:
        line = f"NVRM: Xid (): {number}"  # NVML gives the number alone
        one = self._matcher.signature(self._matcher.find([line])[0], line)
        if one is None or one.kind == Kind.BENIGN:
            return None
        sample = source.sample
        place = source.place(f"GPU {sample.gpu}: Xid {number}")
        return finding_from_signature(one, line, sample.node, sample.time, place, sample.gpu, jobs=source.jobs)


class _Source(NamedTuple):
    """A sample, its position, and the jobs that it concerns."""

    sample: GpuSample
    position: Position
    jobs: list[str]

    def place(self, text: str) -> Evidence:
        at = self.position
        return Evidence(topic=at.topic, partition=at.partition, offset=at.offset, line=1, text=text, stream="gpu")

    def finding(
        self, text: str, signature: str, kind: str, component: Component, confidence: float, **more: Any
    ) -> NodeFinding:
        sample, place = self.sample, self.place(text)
        return make_finding(
            sample.node, sample.time, place, signature, kind, component, confidence, gpu=sample.gpu, jobs=self.jobs, **more
        )  # fmt: skip


def _recovery(action: RecoveryAction, source: _Source) -> NodeFinding:
    """Return the finding that the driver states `action` for a GPU."""
    names = ("GPU_RESET", "NODE_REBOOT", "BUS_RESET", "SYSTEM_REBOOT")
    fatal = action in {RecoveryAction[name] for name in names}
    none = action is RecoveryAction.NONE
    level = Severity.FATAL if fatal else Severity.WARNING if none else Severity.ERROR
    text = f"GPU {source.sample.gpu}: the driver's recovery action is {action}"
    kind = Kind.WARNING if none else Kind.DEVICE
    made = source.finding(text, "gpu_recovery_action", kind, _GPU, 0.9, level=level, drain=fatal)
    return msgspec.structs.replace(made, recovery_action=action)
