"""A hang, from the silence of the log and from what the GPUs do meanwhile.

By the log alone, only a long silence is a hang: the time without reports is compared with the usual time between reports (`Silence`).
A shorter silence suffices where the GPUs agree, and none does where a GPU works. Other work that the job logged last (`SideWork`)
explains a silence for a while. Nothing is extrapolated: a silence lasts until the newest chunk of the stream, and the state of the GPUs
until their newest sample.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import msgspec

from schedmate_records import Checkpoint, CheckpointState, Evidence, GpuState, JobMetric

from ..classified_chunk import PROGRESS, ClassifiedChunk
from ..read.robust import median
from .culprit import Culprit, RankLines, culprit
from .held import HeldGpus

EXPLAINED_S = 1800.0
"""A phase explains a silence for so long."""


class SideWork(StrEnum):
    """Work of a job other than its steps."""

    CHECKPOINT = "checkpoint"
    COMPILATION = "compilation"
    EVALUATION = "evaluation"
    LOADING = "loading"
    OVER = "over"
    """The work is over."""


_BEGINS = (
    (
        SideWork.COMPILATION,
        re.compile(r"(?i)\b(?:re-?)?compil(?:ing|ation)\b|\bauto-?tun(?:e|ing)\b|\btracing\b|\bcapturing\b"),
    ),
    (SideWork.EVALUATION, re.compile(r"(?i)\b(?:eval|evaluat(?:e|ing|ion)|validat(?:e|ing|ion)|inference|testing)\b")),
    (SideWork.CHECKPOINT, re.compile(r"(?i)\b(?:re)?(?:stor|load)ing\b.{0,40}\b(?:checkpoint|ckpt|state|weights)")),
    (SideWork.LOADING, re.compile(r"(?i)\b(?:download|load|tokeniz|preprocess|shuffl|index|build|cach|prepar)ing\b")),
)
_OVER = re.compile(r"(?i)\b(?:done|finished|completed?|ended|took|result|accuracy|score)s?\b|\b(?:loss|acc)\w*\s?[=:]")


class SideWorkState(msgspec.Struct):
    """State of an attempt.

    Attributes:
        phase: Side work that it logged last; null where it makes steps.
        saving: A save is under way.
        save_s: Usual seconds of a save; null before the first.
    """

    phase: SideWork | None = None
    saving: bool = False
    save_s: float | None = None

    def read(self, chunk: ClassifiedChunk) -> None:
        """Take new lines: the newest progress, and the lines after it."""
        progress = chunk.classes.rfind(PROGRESS)
        if progress >= 0:
            self.phase = None
        # Three lines after the newest progress are searched.
        for index in range(max(len(chunk.lines) - 3, progress + 1), len(chunk.lines)):
            # The search for a phase reads 400 characters, which bounds the time for a line.
            phase = phase_of(chunk.templates[index][:400])
            if phase is not None:
                self.phase = None if phase is SideWork.OVER else phase

    def on_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Take the state of a save. An asynchronous save explains no silence."""
        self.saving = checkpoint.state is CheckpointState.STARTED and not checkpoint.asynchronous
        self.save_s = checkpoint.usual_duration_s

    @property
    def now(self) -> SideWork | None:
        """Reason of a silence; null where there is none."""
        return SideWork.CHECKPOINT if self.saving else self.phase

    @property
    def explained_s(self) -> float:
        """Seconds of silence that it explains."""
        if self.saving and self.save_s is not None:
            # A save explains a silence of five times the usual duration of a save.
            return min(5.0 * self.save_s, EXPLAINED_S)
        return EXPLAINED_S if self.now else 0.0


@lru_cache(maxsize=4096)
def phase_of(template: str) -> SideWork | None:
    """Return the phase that a line begins, or that one is over; None where it names none."""
    if _OVER.search(template):
        return SideWork.OVER
    return next((phase for phase, pattern in _BEGINS if pattern.search(template)), None)


LEAST_GAPS = 3
"""Minimum number of gaps for a limit."""
TIMES_USUAL, TIMES_LONGEST = 10.0, 2.5
"""Reports that stay away for so many times the usual gap, and the longest one, are an alarm by themselves."""


class Silence(msgspec.Struct):
    """The rhythm of a job's reports, over all its ranks.

    Attributes:
        step: The highest training step reported; null where none is named.
        time: Arrival of the last sign of progress; 0 before the first.
        gaps: Seconds between reports, the newest.
        longest: The longest of all gaps so far: an evaluation or a checkpoint between.
        evidence: The last report.
    """

    step: int | None = None
    time: float = 0.0
    gaps: list[float] = []
    longest: float = 0.0
    evidence: Evidence | None = None

    def reported(self, step: int | None, time: float, evidence: Evidence | None) -> bool:
        """Take a report; return whether it shows progress. One that names the same step again shows none."""
        if step is not None and step == self.step:
            return False
        if self.time and time > self.time:
            self.gaps = [*self.gaps, time - self.time][-16:]
            self.longest = max(self.longest, time - self.time)
        self.step, self.evidence = step, evidence
        self.time = max(time, self.time)
        return True

    def limit(
        self, least: float, times_usual: float = TIMES_USUAL, times_longest: float = TIMES_LONGEST
    ) -> float | None:
        """Return how many seconds without a report are an alarm, at least `least`; None after too few reports."""
        if len(self.gaps) < LEAST_GAPS:
            return None
        return max(least, times_usual * median(self.gaps), times_longest * self.longest)


AGREED_USUAL, AGREED_LONGEST = 5.0, 1.5
"""`TIMES_USUAL` and `TIMES_LONGEST` where the GPUs agree."""
START_UP_S = 1800.0
"""Before the first reports, GPUs may wait in a kernel for so long: others load, download, compile."""


class HangState(msgspec.Struct):
    """State of an attempt.

    Attributes:
        silence: How reports came.
        node: Host that reported last.
        rank: Rank that reported last.
        heard: Arrival of the newest chunk of that host or rank, an empty one included.
        printed: Arrival of the newest line of any rank.
        phase: Side work that the job logged.
        ranks: When each rank showed progress.
    """

    silence: Silence = msgspec.field(default_factory=Silence)
    node: str = ""
    rank: int = 0
    heard: float = 0.0
    printed: float = 0.0
    phase: SideWorkState = msgspec.field(default_factory=SideWorkState)
    ranks: RankLines = msgspec.field(default_factory=RankLines)

    def on_metric(self, metric: JobMetric) -> bool:
        """Take a report; return whether it shows progress."""
        self.node, self.rank = metric.node, metric.rank
        return self.silence.reported(metric.step, metric.time, metric.evidence[0] if metric.evidence else None)

    def on_chunk(self, chunk: ClassifiedChunk) -> None:
        """Take lines, or word that none came. Progress of any kind, such as that of an evaluation, shows that it works."""
        if chunk.lines:
            self.printed = max(self.printed, chunk.newest)
            self.phase.read(chunk)
        progress = PROGRESS in chunk.classes
        if progress:
            self.ranks.add_chunk(chunk)
            if self.silence.time:
                self.silence.time = max(self.silence.time, chunk.newest)
        if chunk.rank == self.rank or (chunk.node and chunk.node == self.node):
            self.heard = max(self.heard, chunk.newest)

    def on_life(self, time: float) -> None:
        """Take notice of what shows at `time` that it works, or of lines that were lost until then: a silence before is none."""
        if self.silence.time:
            self.silence.time = max(self.silence.time, time)


@dataclass(frozen=True)
class Hang:
    """A hang.

    Attributes:
        since: When it began.
        seconds: How long it lasts by now.
        usual: Seconds between two reports before; None where there were none.
        limit: Seconds that are no hang.
        activity: What the GPUs do; None where only the log shows it.
        culprit: The rank or node that is missing, or fell silent first.
        detail: All that in a sentence.
    """

    since: float
    seconds: float
    usual: float | None
    limit: float
    activity: GpuState | None
    culprit: Culprit
    detail: str


def find_hang(state: HangState, gpus: HeldGpus, hang_s: float, confirmed_s: float) -> Hang | None:
    """Return the hang that is shown by now, if any.

    Args:
        state: What the log shows.
        gpus: What the GPUs do.
        hang_s: Seconds without a report that are never a hang, where only the log shows it.
        confirmed_s: And where the GPUs agree.
    """
    silence = state.silence
    alone = silence.limit(hang_s)
    quiet_since, least = (state.printed, START_UP_S) if alone is None else (silence.time, min(hang_s, confirmed_s))
    if state.heard - quiet_since <= least:
        return None  # before all GPUs are looked at
    seen = gpus.evidence()
    if alone is None:
        since = max(state.printed, seen.since)
        lasts = min(state.heard, seen.until) - since
        if seen.state is not GpuState.WAITING or lasts <= START_UP_S:
            return None
        return _hang(state, gpus, since, lasts, START_UP_S, seen.state)
    explained = state.phase.explained_s
    if seen.state in (GpuState.WAITING, GpuState.IDLE):
        limit = max(silence.limit(confirmed_s, AGREED_USUAL, AGREED_LONGEST) or confirmed_s, explained)
        lasts = min(state.heard, seen.until) - max(silence.time, seen.since)
        if lasts > limit:
            return _hang(state, gpus, silence.time, state.heard - silence.time, limit, seen.state)
    limit, lasts = max(alone, explained), state.heard - silence.time
    if lasts > limit and not gpus.works(state.heard):
        return _hang(state, gpus, silence.time, lasts, limit, None)
    return None


def _hang(  # noqa: PLR0917  # what is known, and what it shows
    state: HangState, gpus: HeldGpus, since: float, lasts: float, limit: float, activity: GpuState | None
) -> Hang:
    silence = state.silence
    who = culprit(gpus, state.ranks, activity)
    if len(silence.gaps) < LEAST_GAPS:
        usual, detail = None, f"nothing was printed for {lasts:.0f} s, and no training report ever"
    else:
        usual = median(silence.gaps)
        at = "" if silence.step is None else f" since step {silence.step}"
        detail = f"no report{at}; one came every {usual:.3g} s before"
    what = {
        GpuState.WAITING: "; its GPUs wait in a kernel that does not end (a collective whose peer is missing)",
        GpuState.IDLE: "; its GPUs are idle (it hangs on the host)",
    }
    return Hang(since, lasts, usual, limit, activity, who, detail + (what[activity] if activity else "") + who.words)
