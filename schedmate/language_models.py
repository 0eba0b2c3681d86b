"""The language model as the settings say."""

import time
from collections.abc import Callable

from processors.models.answers import AnswerStore
from processors.models.inquirer import Inquirer
from processors.models.inquiry import Inquiry
from processors.models.language_model import LanguageModel
from processors.models.pool import Limits, ModelPool
from processors.models.recent_lines import RecentLines
from processors.models.server import ModelServer
from records import ModelAnswer
from schedmate.safe_console import SafeConsole
from schedmate.settings import LanguageModelSettings, SettingsError

PATIENCE = 3
"""A question may take so many times the limit of one attempt, waiting and pauses included."""


def model_servers(settings: LanguageModelSettings) -> list[ModelServer]:
    """Return the servers, without asking them. Raises `SettingsError` where an address is none or the key's file cannot be read."""
    key = settings.secret()
    try:
        return [ModelServer(url, settings.model, key) for url in settings.servers]
    except ValueError as error:
        raise SettingsError(f"language_model.servers: {error}") from error


def language_model(settings: LanguageModelSettings) -> ModelPool | None:
    """Return what answers questions, or None where no server is configured. Raises `SettingsError` as `model_servers` does."""
    servers = model_servers(settings)
    if not servers:
        return None
    limits = Limits(
        concurrency=settings.concurrency,
        timeout_s=settings.timeout_seconds,
        total_s=PATIENCE * settings.timeout_seconds,
        attempts=settings.attempts,
        per_job_hour=settings.questions_per_job_hour,
        per_hour=settings.questions_per_hour,
    )
    try:
        store = AnswerStore(settings.answers_kept, settings.answers_file)
    except OSError as error:
        raise SettingsError(f"language_model.answers_file: {error}") from error
    return ModelPool(servers, limits, store, settings.model)


def inquirer(settings: LanguageModelSettings) -> Inquirer | None:
    """Return what collects questions and the lines to ask with, or None where no server is configured: then nothing is kept."""
    return Inquirer(RecentLines(in_all=settings.lines_kept)) if settings.servers else None


def asked_at_once(model: LanguageModel) -> Callable[[Inquiry], ModelAnswer | None]:
    """Return what asks `model` and waits for its answer; a person at a terminal is told so on standard error."""
    console = SafeConsole(stderr=True)

    def ask(inquiry: Inquiry) -> ModelAnswer | None:
        with console.status(f"asking the language model about {inquiry.question.job}", spinner="line"):
            answer = model.ask(inquiry.question)
        return inquiry.record(answer, time.time()) if answer else None

    return ask
