"""A log that a person teaches the format of: the question about it, and what the taught format reads from it."""

from pathlib import Path

from processors.formats import KnownFormats
from processors.settings import ProcessorSettings
from schedmate_records import FormatQuestion, KnownFormat, LogChunk, ModelAnswer, ModelQuestion
from streams.producers.stored import read_chunks

from ..analysis.analysis import Analysis, analyze
from ..assembly import job_processor


def survey(log: Path, settings: ProcessorSettings) -> FormatQuestion | None:
    """Return the question about the format of `log`; None where it has no templates with numbers. Raises `UnreadableLog`."""
    shown: list[FormatQuestion] = []

    def note(question: ModelQuestion, _: object) -> ModelAnswer | KnownFormat | None:
        if question.format is not None:
            shown.append(question.format)
        return None

    processor = job_processor(settings.model_copy(update={"ask_models": True}), formats=KnownFormats())
    analyze(log, _chunks(log), processor, ask=note)
    return shown[-1] if shown else None


def read_with(log: Path, settings: ProcessorSettings, known: KnownFormat) -> Analysis:
    """Return what `log` holds, read with the format `known`. Raises `UnreadableLog`."""
    return analyze(log, _chunks(log), job_processor(settings, formats=KnownFormats([known])))


def _chunks(log: Path) -> list[LogChunk]:
    return list(read_chunks(log, lambda _: None))
