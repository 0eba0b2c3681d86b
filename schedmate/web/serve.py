"""Serves the page until it is asked to stop."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial

import uvicorn
from starlette.applications import Starlette

from schedmate_records import KnownFormat
from sinks.redis.read_state import read_states
from streams.kafka import KafkaChanges, read_newest, read_span
from streams.transport import Message

from ..approvals import person, write
from ..assembly import signatures
from ..cli.console import print_line
from ..connections import kafka_connection
from ..formats.stored import store
from ..services.sink import clickhouse_reader, redis_client
from ..settings.settings import Settings, SettingsError
from .access import Access, Linked, Looking, Proxied
from .acts import Act
from .app import LOOPBACK, opened_app
from .changes import COUNTED, TOPICS, Changes
from .database import LIMITS, Database
from .now import ReadStates
from .protocol import LimitedProtocol

ADDRESS = "127.0.0.1"
"""Visitors from elsewhere come through SSH, or a proxy on this host."""


def serve(settings: Settings, port: int, names: Sequence[str] = ()) -> None:
    """Serve the page of the database that the settings name, until SIGINT or SIGTERM.

    Args:
        settings: Of ClickHouse, of signatures, of who may act, and of Kafka.
        port: On 127.0.0.1; 0: any that is free.
        names: Names by which browsers may call it, in addition to those of the loopback.

    Raises:
        SettingsError: The port is taken, or a setting cannot be used.
        SinkUnavailable: The database does not answer.
        SinkRejected: The database refuses the user, has no tables, or belongs to another process.
    """
    access = _access(settings)
    known = {one.name: one for one in signatures(settings.processors)}
    embedded = settings.clickhouse.url.startswith("chdb:")
    connect = clickhouse_reader(settings.clickhouse, LIMITS)
    database = Database(connect, embedded=embedded)
    database.rows("SELECT count() AS jobs FROM job_events")  # errors are reported now, not to the first visitor
    database.close()
    with (
        closing(listen(port)) as listening,
        opened_app(
            connect,
            known,
            embedded=embedded,
            hosts=(*LOOPBACK, *names),
            access=access,
            write=partial(_write, settings) if settings.web.act else None,
            read=partial(read_span, kafka_connection(settings.kafka)) if settings.kafka.brokers else None,
            newest=partial(_newest, settings) if settings.kafka.brokers else None,
            teach=partial(_teach, settings) if settings.web.act else None,
            follow=None if embedded else _follow(settings),
            states=None if embedded else _states(settings),
            log_link=settings.web.log_link,
        ) as app,
    ):
        address = f"http://{ADDRESS}:{listening.getsockname()[1]}"
        print_line(f"serving {address}/ until Ctrl-C")
        if isinstance(access, Linked):
            print_line(
                f"to act as {person()}, open {address}{access.link} once; anyone who has this link can act as you"
            )
        PageServer(app).run(sockets=[listening])


def listen(port: int) -> socket.socket:
    """Return a socket that listens on `port` of the loopback. Raises `SettingsError` where that is taken."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((ADDRESS, port))
        listening.listen()  # a client that has read the address waits, and is not refused
    except OSError as error:
        listening.close()
        raise SettingsError(f"--port: expected a free port, got {port}: {error.strerror}") from error
    return listening


def _access(settings: Settings) -> Access:
    web = settings.web
    if web.user_header:
        if not (password := web.secret()):
            raise SettingsError(
                "web.user_header: expected the password that the proxy proves itself with, got none: "
                "set web.password_file, or SCHEDMATE_WEB__PASSWORD"
            )
        return Proxied(web.user_header, password, web.operators if web.act else ())
    if web.operators:
        raise SettingsError("web.operators: expected web.user_header, in which a proxy names the user, got none")
    return Linked(person()) if web.act else Looking()


def _follow(settings: Settings) -> KafkaChanges | None:
    """Return what changes while the page is open; an embedded database has no other writer meanwhile."""
    return KafkaChanges(kafka_connection(settings.kafka), TOPICS, COUNTED) if settings.kafka.brokers else None


def _states(settings: Settings) -> ReadStates | None:
    """Return what reads the current state of jobs; an embedded database has no other writer meanwhile."""
    if not settings.redis.url:
        return None
    # A visitor waits for Redis for a second at most.
    return partial(read_states, redis_client(settings.redis, timeout_s=1.0), prefix=settings.redis.prefix)


def _write(settings: Settings, act: Act) -> None:
    write(settings, act.command, act.about, act.reason, user=act.user, job=act.job, expires=act.expires)


def _newest(settings: Settings, job: str, count: int) -> Iterator[Message]:
    return read_newest(kafka_connection(settings.kafka), "job-logs", job.encode(), count)


def _teach(settings: Settings, record: KnownFormat) -> None:
    store(settings, [record])


class PageServer(uvicorn.Server):
    """Serves `app`, and logs no requests."""

    def __init__(self, app: Starlette) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=LimitedProtocol,
                ws="none",
                log_level="warning",
                access_log=False,
                server_header=False,
                lifespan="off",
            )
        )
        self._changes: Changes | None = app.state.changes

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop serving."""
        if self._changes:
            self._changes.end_streams()
        await super().shutdown(sockets)
