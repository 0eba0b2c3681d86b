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
    return survey_chunks(log, _chunks(log), settings)


def survey_chunks(name: Path, chunks: Sequence[LogChunk], settings: ProcessorSettings) -> ModelQuestion | None:
    """Return the question about the format of the stream that has most of the lines in `chunks`; None as `survey` does."""
    shown: list[tuple[int, int, ModelQuestion]] = []

    def note(question: ModelQuestion, _: object) -> ModelAnswer | KnownFormat | None:
        if question.format is not None:
            shown.append((sum(each.count for each in question.format.templates), len(shown), question))
        return None

    processor = job_processor(settings.model_copy(update={"ask_models": True}), formats=KnownFormats())
    analyze(name, chunks, processor, ask=note)
    return max(shown)[-1] if shown else None


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
    return read_chunks_with(log, _chunks(log), settings, known)


def read_chunks_with(
    name: Path, chunks: Sequence[LogChunk], settings: ProcessorSettings, known: KnownFormat
) -> Analysis:
    """Return what `chunks` hold, read with the format `known`."""
    return analyze(name, chunks, job_processor(settings, formats=KnownFormats([known])))


def _chunks(log: Path) -> list[LogChunk]:
    return list(read_chunks(log, lambda _: None))
