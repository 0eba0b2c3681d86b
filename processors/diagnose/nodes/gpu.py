"""Samples of GPUs to findings: Xid events, counters of errors that grew, a GPU that cannot be read, clocks held back by heat or power.

Counters count since the driver was loaded, so only growth between two samples of one GPU says anything of the time between them.
"""

import re
from collections.abc import Sequence

import msgspec

from processors.diagnose import kinds
from processors.diagnose.catalogue import Signature
from processors.diagnose.matcher import Matcher
from records import Component, Evidence, GpuSample, NodeFinding, Position

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

_COUNTERS = (
    ("ecc_uncorrected", "uncorrected memory errors", kinds.DEVICE, Component.GPU, 0.95),
    ("rows_remapped", "rows remapped for uncorrected errors", kinds.DEVICE, Component.GPU, 0.9),
    ("nvlink_errors", "NVLink errors", kinds.PEER, Component.NVLINK, 0.6),
)


class GpuMemory(msgspec.Struct):
    """The counters of one GPU as last seen, its complaints that were told already, and the jobs whose processes it held."""

    ecc_uncorrected: int | None = None
    rows_remapped: int | None = None
    nvlink_errors: int | None = None
    error: str = ""
    held_back: list[str] = []
    jobs: list[str] = []


class GpuReader:
    """Reads samples. Holds the catalogue, for the meaning of Xid numbers; what is remembered of a node's GPUs goes in and out."""

    def __init__(self, signatures: Sequence[Signature]) -> None:
        self._matcher = Matcher([one for one in signatures if "Xid" in one.pattern or one.name.startswith("gpu_")])

    def read(self, sample: GpuSample, position: Position, memory: dict[str, GpuMemory]) -> list[NodeFinding]:
        """Return what `sample`, which stands at `position`, tells; `memory` (by GPU) moves on."""
        last = memory.setdefault(sample.uuid or str(sample.gpu), GpuMemory())
        # What went wrong since the sample before concerns the jobs of then too: their processes may be gone, and a lost GPU shows none.
        jobs = sorted({*last.jobs, *_jobs(sample)})
        told = [one for number in sample.xids if (one := self._xid(number, sample, position, jobs)) is not None]
        for name, words, kind, component, confidence in _COUNTERS:
            before, now = getattr(last, name), getattr(sample, name)
            if now is None:
                continue
            if before is not None and now > before:
                text = f"GPU {sample.gpu}: {now - before} {words} since the sample before ({now} in all)"
                told.append(_made(name, text, kind, component, confidence, sample, position, jobs))
            setattr(last, name, now)
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
        line = f"NVRM: Xid (PCI): {number}"
        one = self._matcher.signature(self._matcher.find([line])[0], line)
        if one is None or one.kind == kinds.BENIGN:
            return None
        place = _place(f"GPU {sample.gpu}: Xid {number}", position)
        return of_signature(one, sample.node, sample.time, place, sample.gpu, jobs)


def _sureness(error: str) -> float:
    """Return how sure an error is the GPU's own: an agent that does not work is no witness against a node."""
    return GONE if _OF_THE_GPU.search(error) and not _OF_A_FIELD.match(error) else DOUBTFUL


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
        gpu=sample.gpu,
        jobs=jobs,
    )


def _place(text: str, position: Position) -> Evidence:
    return Evidence(
        topic=position.topic, partition=position.partition, offset=position.offset, line=1, text=text, stream="gpu"
    )


def _jobs(sample: GpuSample) -> list[str]:
    return sorted({one.job for one in sample.processes if one.job})
