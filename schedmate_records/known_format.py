"""Topic `formats`: what the lines of a log format mean. A language model or a person states it once; every worker applies it."""

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from .base import Record
from .decision import Name

TEMPLATES, COLUMNS = 32, 128
"""Maximum numbers of templates and of their columns in a format."""
_TEXT = Annotated[str, Meta(max_length=2048)]


class ColumnRole(StrEnum):
    """Meaning of one number column of a template."""

    STEP = "step"
    STEP_TOTAL = "step_total"
    EPOCH_STEP = "epoch_step"
    EPOCH_STEP_TOTAL = "epoch_step_total"
    EPOCH = "epoch"
    EPOCH_TOTAL = "epoch_total"
    LOSS = "loss"
    LOSS_PART = "loss_part"
    STEP_TIME = "step_time"
    REPORT_TIME = "report_time"
    RATE = "rate"
    ELAPSED = "elapsed"
    SAMPLES = "samples"
    TOKENS = "tokens"  # of a language model
    LEARNING_RATE = "learning_rate"
    OTHER = "other"


class Reports(StrEnum):
    """What the lines of a template report."""

    TRAINING = "training"
    EVALUATION = "evaluation"
    NEITHER = "neither"


class ColumnMeaning(msgspec.Struct, frozen=True):
    """Meaning of a number column.

    Attributes:
        column: Index of the number in its template, from 0.
        role: What the number is.
        unit: Unit of a time or rate; `none` for all other numbers.
        steps: Number of steps that a step time covers. It counts for step times alone.
    """

    column: Annotated[int, Meta(ge=0, lt=COLUMNS)]
    role: ColumnRole
    unit: Name = "none"
    steps: Annotated[int, Meta(ge=1, le=10**9)] = 1


class TemplateFormat(msgspec.Struct, frozen=True):
    """Meaning of the lines of one template.

    Attributes:
        text: The template: a line without its prefix, with `{}` in place of each number.
        reports: What its lines report.
        columns: Meanings of its numbers; those without a known meaning are left out.
        sample: One line of the template.
    """

    text: _TEXT
    reports: Reports = Reports.NEITHER
    columns: Annotated[list[ColumnMeaning], Meta(max_length=COLUMNS)] = []
    sample: _TEXT = ""


class KnownFormat(Record, frozen=True, kw_only=True):
    """Meaning of the lines of one log format. Key: the fingerprint; the newest record of a fingerprint counts.

    Attributes:
        id: Follows from the fingerprint, the author and the time.
        fingerprint: Checksum of the frequent templates of the stream that was asked about.
        time: When it was stated, in seconds since 1970.
        author: Name of the model, or of the person.
        person: Whether a person stated it.
        prompt: Version of the prompt that a model answered; empty for a person.
        training: Whether logs of this format report a training at all.
        templates: Its frequent templates.
        forgotten: Whether a person withdrew it. Workers no longer apply it.
    """

    id: str
    fingerprint: Name
    time: float
    author: Name = ""
    person: bool = False
    prompt: str = ""
    training: bool = False
    templates: Annotated[list[TemplateFormat], Meta(max_length=TEMPLATES)] = []
    forgotten: bool = False
