"""A log whose format a person teaches: the question about it, the answers that are known, and what the taught format reads."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from processors.formats import KnownFormats
from processors.formats.answer import FormatAnswer
from processors.formats.defaults import known_answer, rules_answer
from processors.settings import ProcessorSettings
from schedmate_records import FormatQuestion, KnownFormat, LogChunk, ModelAnswer, ModelQuestion
from streams.producers.stored import read_chunks

from ..analysis.analysis import Analysis, analyze
from ..assembly import job_processor


def survey(log: Path, settings: ProcessorSettings) -> ModelQuestion | None:
    """Return the question about the format of `log`; None where it has no templates with numbers. Raises `UnreadableLog`."""
    shown: list[ModelQuestion] = []

    def note(question: ModelQuestion, _: object) -> ModelAnswer | KnownFormat | None:
        if question.format is not None:
            shown.append(question)
        return None

    processor = job_processor(settings.model_copy(update={"ask_models": True}), formats=KnownFormats())
    analyze(log, _chunks(log), processor, ask=note)
    return shown[-1] if shown else None


def first_answer(question: FormatQuestion, known: KnownFormat | None) -> FormatAnswer:
    """Return the answer from which a person starts: that of the known format, else the rules' about a training."""
    return replace(rules_answer(question), training=True) if known is None else known_answer(known, question)


def known_format(question: FormatQuestion, formats: Sequence[KnownFormat]) -> KnownFormat | None:
    """Return the one of `formats` that the log of `question` has; None where none is known for it."""
    known = KnownFormats(formats)
    found = known.get(question.fingerprint) or known.match({each.text: each.count for each in question.templates})
    return found.record if found else None


def read_with(log: Path, settings: ProcessorSettings, known: KnownFormat) -> Analysis:
    """Return what `log` holds, read with the format `known`. Raises `UnreadableLog`."""
    return analyze(log, _chunks(log), job_processor(settings, formats=KnownFormats([known])))


def _chunks(log: Path) -> list[LogChunk]:
    return list(read_chunks(log, lambda _: None))
