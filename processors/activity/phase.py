"""What a job says that it does before it falls silent: what explains a silence, and for how long."""

import re
from enum import StrEnum
from functools import lru_cache

import msgspec

from processors.classified_chunk import PROGRESS, ClassifiedChunk
from records import Checkpoint, CheckpointState

EXPLAINED_S = 1800.0
"""A phase explains a silence for so long."""
TIMES_SAVE = 5.0
"""A save explains so many times the usual duration of a save."""
LINES = 3
"""Lines after the newest progress that are looked at."""
_LONGEST = 400


class Phase(StrEnum):
    """What a job does beside its steps."""

    CHECKPOINT = "checkpoint"
    COMPILATION = "compilation"
    EVALUATION = "evaluation"
    LOADING = "loading"
    OVER = "over"
    """What it did is over."""


_BEGINS = (
    (
        Phase.COMPILATION,
        re.compile(r"(?i)\b(?:re-?)?compil(?:ing|ation)\b|\bauto-?tun(?:e|ing)\b|\btracing\b|\bcapturing\b"),
    ),
    (Phase.EVALUATION, re.compile(r"(?i)\b(?:eval|evaluat(?:e|ing|ion)|validat(?:e|ing|ion)|inference|testing)\b")),
    (Phase.CHECKPOINT, re.compile(r"(?i)\b(?:re)?(?:stor|load)ing\b.{0,40}\b(?:checkpoint|ckpt|state|weights)")),
    (Phase.LOADING, re.compile(r"(?i)\b(?:download|load|tokeniz|preprocess|shuffl|index|build|cach|prepar)ing\b")),
)
_OVER = re.compile(r"(?i)\b(?:done|finished|completed?|ended|took|result|accuracy|score)s?\b|\b(?:loss|acc)\w*\s?[=:]")


class PhaseState(msgspec.Struct):
    """What is remembered of an attempt.

    Attributes:
        phase: What it said last that it does; null where it makes steps.
        saving: A save is under way.
        save_s: Usual seconds of a save; null before the first.
    """

    phase: Phase | None = None
    saving: bool = False
    save_s: float | None = None

    def read(self, chunk: ClassifiedChunk) -> None:
        """Take new lines: the newest progress, and the lines after it."""
        progress = chunk.classes.rfind(PROGRESS)
        if progress >= 0:
            self.phase = None
        for index in range(max(len(chunk.lines) - LINES, progress + 1), len(chunk.lines)):
            said = phase_of(chunk.templates[index][:_LONGEST])
            if said is not None:
                self.phase = None if said is Phase.OVER else said

    def on_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Take what is told of a save. One that goes on beside the training explains no silence."""
        self.saving = checkpoint.state is CheckpointState.STARTED and not checkpoint.asynchronous
        self.save_s = checkpoint.usual_duration_s

    @property
    def now(self) -> Phase | None:
        """What explains a silence; null where nothing does."""
        return Phase.CHECKPOINT if self.saving else self.phase

    @property
    def explained_s(self) -> float:
        """Seconds of silence that it explains."""
        if self.saving and self.save_s is not None:
            return min(TIMES_SAVE * self.save_s, EXPLAINED_S)
        return EXPLAINED_S if self.now else 0.0


@lru_cache(maxsize=4096)
def phase_of(template: str) -> Phase | None:
    """Return the phase that a line begins, or that one is over; None where it speaks of none."""
    if _OVER.search(template):
        return Phase.OVER
    return next((phase for phase, pattern in _BEGINS if pattern.search(template)), None)
