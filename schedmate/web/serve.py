"""Serves the page until it is told to stop."""

import socket
from collections.abc import Sequence
from contextlib import closing

import uvicorn

from schedmate.assembly import signatures
from schedmate.cli.console import say
from schedmate.services.sink import clickhouse_opener
from schedmate.settings import Settings, SettingsError

from .app import LOOPBACK, opened_app
from .database import Database

ADDRESS = "127.0.0.1"
"""There is no login, so nobody may come from elsewhere."""


def serve(settings: Settings, port: int, names: Sequence[str] = ()) -> None:
    """Serve the page of the database that the settings name, until SIGINT or SIGTERM.

    Args:
        settings: Of ClickHouse and of signatures.
        port: On 127.0.0.1; 0: any that is free.
        names: Names by which browsers may call it, beside those of the loopback.

    Raises:
        SettingsError: The port is taken, or a setting cannot be used.
        SinkUnavailable: The database does not answer.
        SinkRejected: The database refuses the user, has no tables, or belongs to another process.
    """
    known = {one.name: one for one in signatures(settings.processors)}
    embedded = settings.clickhouse.url.startswith("chdb:")
    connect = clickhouse_opener(settings.clickhouse)
    database = Database(connect, embedded=embedded)
    database.rows("SELECT count() AS jobs FROM job_events")  # what is wrong is said here, not to the first visitor
    database.close()
    with (
        closing(_listening(port)) as listening,
        opened_app(connect, known, embedded=embedded, hosts=(*LOOPBACK, *names)) as app,
    ):
        say(f"serving http://{ADDRESS}:{listening.getsockname()[1]}/ until Ctrl-C")
        config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, lifespan="off")
        uvicorn.Server(config).run(sockets=[listening])


def _listening(port: int) -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((ADDRESS, port))
    except OSError as error:
        listening.close()
        raise SettingsError(f"--port: expected a free port, got {port}: {error.strerror}") from error
    return listening
