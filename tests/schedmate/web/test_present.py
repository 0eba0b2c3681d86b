"""What the page says while ClickHouse is away and Redis is not."""

from typing import Any
from urllib.parse import urlencode

import pytest

from records import EventKind, JobEvent, JobMetric, Position
from schedmate.settings import RedisSection
from schedmate.web.present import present
from sinks import SinkUnavailable
from sinks.redis import RedisState
from sinks.redis.connect import open_redis
from tests.schedmate.web.history import HOSTILE
from tests.schedmate.web.test_pages import Elements, get
from tests.servers.redis import RedisServer, redis_store
from tests.servers.web import web_server

__all__ = ["redis_store"]

pytestmark = pytest.mark.redis


def away() -> Any:
    raise SinkUnavailable("opening ClickHouse: connection refused")


def started(job: str) -> JobEvent:
    return JobEvent(id=job, job=job, kind=EventKind.STARTED, time=1.0, scheduler="slurm")


def test_jobs_are_told_as_redis_has_them(redis_store: RedisServer) -> None:
    metric = JobMetric(id="m", job=HOSTILE, time=2.0, step=4321, loss=0.5, step_time_s=0.25)
    RedisState(open_redis(redis_store.url)).update(
        [
            (Position("job-events", 0, 1), started(HOSTILE)),
            (Position("job-events", 0, 2), started("other")),
            (Position("job-metrics", 0, 1), metric),
        ]
    )
    with web_server(away, {}, present=present(RedisSection(url=redis_store.url))) as page:
        status, _, text = get(page, "/jobs")
        elements = Elements(text)
        assert status == 503
        assert "What Redis knows now" in elements.text
        assert all(word in elements.text for word in ("4321", "0.500", "0.250", "running", "other"))
        assert not [tag for tag, _ in elements.found if tag == "img"], "nothing of a job becomes markup"
        one = Elements(get(page, f"/job?{urlencode({'id': HOSTILE})}")[2]).text
        assert "4321" in one
        assert "other" not in one
        assert "Redis" not in get(page, "/jobs.json")[2]


def test_where_redis_is_away_too_that_of_the_database_is_said() -> None:
    with web_server(away, {}, present=present(RedisSection(url="redis://127.0.0.1:1/0"))) as page:
        status, _, text = get(page, "/")
        assert (status, "connection refused" in text, "Redis" in text) == (503, True, False)
