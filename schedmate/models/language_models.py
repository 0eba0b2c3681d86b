"""The language model according to the settings."""

from collections.abc import Callable, Mapping
from typing import Any

from processors.diagnose.failure_question import TrackRecord
from processors.prompts import Prompt
from schedmate_records import KnownFormat, LogChunk, ModelAnswer, ModelQuestion
from streams.model_worker.answering import QuestionAnswerer
from streams.model_worker.answers import AnswerStore
from streams.model_worker.http_server import HttpModelServer
from streams.model_worker.language_model import LanguageModel, ModelError, ModelServer, ModelUnavailable
from streams.model_worker.pool import ModelLimits, ModelPool

from ..cli.safe_console import SafeConsole
from ..settings.settings import LanguageModelSection, SettingsError

Ask = Callable[[ModelQuestion, Mapping[int, LogChunk]], ModelAnswer | KnownFormat | None]
"""Returns the answer to a question about some chunks, by offset; None where there is none."""


def model_servers(settings: LanguageModelSection) -> list[HttpModelServer]:
    """Return the servers, without asking them. Raises `SettingsError` where an address is none or the key's file cannot be read."""
    key = settings.secret()
    try:
        return [HttpModelServer(url, settings.model, key) for url in settings.servers]
    except ValueError as error:
        raise SettingsError(f"language_model.servers: {error}") from error


def language_model(settings: LanguageModelSection) -> ModelPool | None:
    """Return what answers questions, or None where no server and no model is configured. Loads the model, which takes minutes.

    Raises:
        SettingsError: As `model_servers`, or the model cannot be loaded.
    """
    servers: list[ModelServer] = [_loaded(settings)] if settings.load else [*model_servers(settings)]
    if not servers:
        return None
    # Three attempts, waiting and pauses included.
    limits = ModelLimits(
        concurrency=settings.concurrency,
        timeout_s=settings.timeout_seconds,
        total_s=3 * settings.timeout_seconds,
        attempts=settings.attempts,
        per_job_hour=settings.questions_per_job_hour,
        per_hour=settings.questions_per_hour,
    )
    try:
        store = AnswerStore(settings.answers_kept, settings.answers_file)
    except OSError as error:
        raise SettingsError(f"language_model.answers_file: {error}") from error
    return ModelPool(servers, limits, store, settings.model)


def asked_at_once(model: LanguageModel, track_record: TrackRecord | None = None) -> Ask:
    """Return a function that asks `model` and waits for its answer. At a terminal it reports this on standard error."""
    console, track_record = SafeConsole(stderr=True), track_record or TrackRecord()

    def ask(question: ModelQuestion, chunks: Mapping[int, LogChunk]) -> ModelAnswer | KnownFormat | None:
        with console.status(f"asking the language model about {question.job}", spinner="line"):
            try:
                return QuestionAnswerer(model, lambda _: chunks, track_record=track_record).answer(question)
            except ModelUnavailable:
                return None

    return ask


def ask_or_none(model: LanguageModel) -> Callable[[Prompt], Mapping[str, Any] | None]:
    """Return a function that asks `model` and waits. It returns None if no server can be asked, or without an answer."""

    def ask(prompt: Prompt) -> Mapping[str, Any] | None:
        try:
            answer = model.ask(prompt)
        except ModelUnavailable:
            return None
        return answer.content if answer else None

    return ask


def _loaded(settings: LanguageModelSection) -> ModelServer:
    from streams.model_worker.vllm_model import VllmModel  # noqa: PLC0415  # only where one is loaded

    try:
        return VllmModel(settings.load, settings.load_tokens, settings.concurrency, settings.load_options)
    except (ModuleNotFoundError, ModelError) as error:
        raise SettingsError(f"language_model.load = {settings.load}: {error}") from error
