"""The store of the vectors of past jobs and their embedder, from the settings."""

from typing import TYPE_CHECKING

from processors.advise.past import MemoryHistory
from processors.advise.past.embedding import Embed, by_model, command_vector, record_vector
from processors.advise.past.similar_jobs import MemorySimilarJobs
from streams.resilience import Outage

from ..assembly import open_embedder
from ..cli.extras import require
from ..plugins.plugins import PluginError
from ..settings.settings import RedisSection, Settings, SettingsError
from .history_file import HistoryFile
from .settings import AdvisorSettings

if TYPE_CHECKING:
    import redis


def load_history(store: HistoryFile, settings: Settings, outage: Outage | None = None) -> MemoryHistory:
    """Return the past jobs of `store`, with vectors if the settings ask for them. Raises `SettingsError` if that is not possible.

    Args:
        store: The jobs.
        settings: The operator's.
        outage: Of Redis, where its metrics are shown.
    """
    of_record, name = _of_record(settings.advisor)
    if settings.advisor.vectors == "memory":
        return store.load(records=MemorySimilarJobs(of_record))
    from .redis_similar import RedisSimilarJobs

    require("redis")
    client, prefix = _redis(settings.redis), f"{settings.redis.prefix}past:"
    outage = outage or redis_outage()
    return store.load(
        commands=RedisSimilarJobs(client, f"{prefix}commands:", command_vector, outage),
        records=RedisSimilarJobs(client, f"{prefix}records:{name}:", of_record, outage),
    )


def redis_outage() -> Outage:
    """Return what counts and logs that Redis is away."""
    return Outage("Redis", consequence="no similar job is found; jobs that end are added once it answers")


def _of_record(settings: AdvisorSettings) -> tuple[Embed, str]:
    """Return what embeds metadata records, and its name."""
    if settings.embedder == "none":
        return record_vector, "words"
    if settings.embedder == "http":
        raise SettingsError("advisor.embedder: expected an embedder in this process, got http")
    try:
        embedder = open_embedder(settings.embedder, settings.embedder_model)
    except (ImportError, OSError, ValueError, PluginError) as error:
        raise SettingsError(f"advisor.embedder = {settings.embedder}: {error}") from error
    return by_model(embedder.embed), embedder.name


def _redis(settings: RedisSection) -> "redis.Redis":
    from sinks.redis.connect import open_redis

    try:
        # An estimate is due within a second.
        return open_redis(
            settings.url, password=settings.secret(), ca_cert=settings.ssl_cafile, timeout_s=0.5, binary=True
        )
    except ValueError as error:
        raise SettingsError(f"redis.url: {error}") from error
