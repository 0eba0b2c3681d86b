"""A hang, from the silence of the log and from what the GPUs do meanwhile.

The log alone needs a long silence. Where the GPUs say the same a shorter one suffices; where one of them works, none does. What a phase
explains is no hang. Nothing is extrapolated: a silence lasts until the newest sign that lines would have come, and what GPUs do until
their newest sample.
"""

from dataclasses import dataclass

import msgspec

from processors.classified_chunk import PROGRESS, ClassifiedChunk
from processors.read.robust import median
from records import GpuState, JobMetric

from .culprit import Culprit, RankLines, culprit
from .held import HeldGpus
from .phase import PhaseState
from .silence import LEAST_GAPS, Silence

TIMES_USUAL, TIMES_LONGEST = 5.0, 1.5
"""As in `silence.py`, where the GPUs agree."""
START_UP_S = 1800.0
"""Before the first reports, GPUs may wait in a kernel for so long: others load, download, compile."""


class HangState(msgspec.Struct):
    """What is remembered of an attempt.

    Attributes:
        silence: How reports came.
        node: Host that reported last.
        rank: Rank that reported last.
        heard: Newest sign from there that lines would have come.
        printed: Arrival of the newest line of any rank.
        phase: What the job said that it does.
        ranks: When each rank showed progress.
    """

    silence: Silence = msgspec.field(default_factory=Silence)
    node: str = ""
    rank: int = 0
    heard: float = 0.0
    printed: float = 0.0
    phase: PhaseState = msgspec.field(default_factory=PhaseState)
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
            self.ranks.take(chunk)
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
        state: What the log says.
        gpus: What the GPUs do.
        hang_s: Seconds without a report that are never a hang, where the log alone speaks.
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
        limit = max(silence.limit(confirmed_s, TIMES_USUAL, TIMES_LONGEST) or confirmed_s, explained)
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
        usual, said = None, f"nothing was printed for {lasts:.0f} s, and no training report ever"
    else:
        usual = median(silence.gaps)
        at = "" if silence.step is None else f" after step {silence.step}"
        said = f"no report for {lasts:.0f} s{at}, where one came every {usual:.3g} s"
    what = {
        GpuState.WAITING: "; its GPUs wait in a kernel that does not end (a collective whose peer is missing)",
        GpuState.IDLE: "; its GPUs are idle (it hangs on the host)",
    }
    return Hang(since, lasts, usual, limit, activity, who, said + (what[activity] if activity else "") + who.words)
