"""Opening ClickHouse: a server over HTTP, or the embedded engine at a directory. The same code runs on both afterwards."""

import logging
import signal
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import clickhouse_connect
from clickhouse_connect.driver.client import Client

from ..errors import SinkRejected, SinkUnavailable
from .faults import translated_errors

# The driver and its HTTP library log every failed try, with a trace. Ours are raised, and an outage is logged once (`streams.resilience`).
logging.getLogger("clickhouse_connect").setLevel(logging.CRITICAL)
logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)

DATABASE = "schedmate"
"""The database, where the address names none."""


def open_client(
    url: str,
    *,
    password: str = "",
    ca_cert: str = "",
    connect_timeout_s: float = 5.0,
    timeout_s: float = 120.0,
    settings: Mapping[str, str] | None = None,
    read_only: bool = False,
) -> Client:
    """Return a client for `url`, with its database set (a server's database need not exist yet).

    Args:
        url: `http://user@host:8123/database` or `https://…` for a server; `chdb:///directory` (`?database=name`) for the
            embedded engine, which one process at a time can open. User `default` and database `schedmate` where left out.
        password: Of the user. Never part of `url`, so that addresses can be printed.
        ca_cert: File with the authority that signed the server's certificate, where the system does not know it.
        connect_timeout_s: Seconds to wait for a connection.
        timeout_s: Seconds to wait for an answer.
        settings: ClickHouse settings of every request, except those that the user may not change.
        read_only: Every request carries ClickHouse's setting `readonly`, so that nothing is written, whatever the user may do.

    Raises:
        ValueError: `url` has another form.
        SinkUnavailable: The server does not answer.
        SinkRejected: The server refuses the user, or another process owns the directory.
    """
    parts = urlsplit(url)
    if parts.password:
        raise ValueError("expected a ClickHouse address without a password; give the password by itself")
    if parts.scheme == "chdb":
        named = parse_qs(parts.query).get("database", [DATABASE])[0]
        client = _embedded(Path(unquote(parts.netloc + parts.path)), named)
        _apply_settings(client, settings or {}, read_only=read_only)
        return client
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"expected http://user@host:port/database, https://… or chdb:///directory, got {url!r}")
    port = parts.port or (8443 if parts.scheme == "https" else 8123)
    with translated_errors("opening ClickHouse", f"{parts.hostname}:{port}"):
        client = clickhouse_connect.get_client(
            interface=parts.scheme,
            host=parts.hostname,
            port=port,
            username=unquote(parts.username or "default"),
            password=password,
            ca_cert=ca_cert or None,
            connect_timeout=connect_timeout_s,
            send_receive_timeout=timeout_s,
            # A session dismisses a broken connection and then answers "session is locked".
            autogenerate_session_id=False,
            show_clickhouse_errors="scrub",
            tz_mode="aware",
        )
    _apply_settings(client, settings or {}, read_only=read_only)
    # Set afterwards: a database that does not exist yet must not keep `migrate` from opening the server.
    client.database = parts.path.strip("/") or DATABASE
    return client


def _apply_settings(client: Client, settings: Mapping[str, str], *, read_only: bool) -> None:
    """Make `client` send these settings. `readonly` comes last: it refuses changes of settings, its own included."""
    try:
        with translated_errors("setting up ClickHouse"):
            for name, value in settings.items():
                known = client.server_settings.get(name)
                if known is None or not known.readonly:
                    client.set_client_setting(name, value)
            # A user whose profile sets `readonly` may not set it again, and need not.
            if read_only and _level(client) == 0:
                client.set_client_setting("readonly", "1")
    except (SinkUnavailable, SinkRejected):
        client.close()
        raise


def _level(client: Client) -> int:
    rows = client.query("SELECT getSetting('readonly')").result_rows
    return int(rows[0][0])


def _embedded(directory: Path, database: str) -> Client:
    if not str(directory).strip("/."):
        raise ValueError("expected chdb:///directory, got no directory")
    with translated_errors(f"opening the embedded ClickHouse at {directory}"):
        directory.mkdir(parents=True, exist_ok=True)
        # The engine blocks SIGPIPE in the thread that opens it, and processes started from there would inherit that.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
        try:
            client = clickhouse_connect.get_client(
                interface="chdb", path=str(directory), show_clickhouse_errors="scrub", tz_mode="aware"
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        client.command("CREATE DATABASE IF NOT EXISTS {name:Identifier}", parameters={"name": database})
        client.database = database
    return client
