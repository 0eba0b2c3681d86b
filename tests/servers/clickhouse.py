"""ClickHouse's engine behind HTTP: a small front over chDB, in a process of its own that can be killed.

It speaks as much of ClickHouse's HTTP interface as clickhouse-connect uses: the query in the body or the URL, settings and
parameters in the URL or in a form, data after the query, errors by header. No package brings a newer server than 18.16.

`python -m tests.servers.clickhouse DIRECTORY PORT` runs the front itself.
"""

import base64
import contextlib
import email
import email.policy
import hashlib
import hmac
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.servers import free_port, kill

from .certificates import Authority

ROOT = Path(__file__).parents[2]

DIE_AFTER_INSERT = "die-after-insert"
"""A file of this name in the directory: the front kills itself after the next insert, before it answers. It may hold a table's name."""

DIE_BEFORE_VIEWS = "die-before-views"
"""A file of this name: the next insert goes to its own table only, as if killed before the materialized views, then as above."""

_TRANSPORT = {
    "database", "client_protocol_version", "query", "query_id", "session_id", "session_timeout", "session_check", "quota_key",
    "compress", "decompress", "wait_end_of_query", "buffer_size", "role", "send_progress_in_http_headers",
    "http_headers_progress_interval_ms", "enable_http_compression", "user", "password",
}  # fmt: skip
_INSERT = re.compile(
    rb"\s*INSERT\s+INTO\s+(?P<into>[^;]*?)\s+FORMAT\s+(?P<format>\w+)\s*?\n", re.IGNORECASE | re.DOTALL
)
_FORMAT = re.compile(r"\bFORMAT\s+(\w+)\s*;?\s*$", re.IGNORECASE)
_CODE = re.compile(r"\bCode:\s*(\d+)")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    directory: Path
    lock = threading.Lock()
    users: Mapping[str, str] = {}

    def do_GET(self) -> None:
        if urlsplit(self.path).path == "/ping":
            self._answer(200, b"Ok.\n")
        else:
            self.do_POST()

    def do_HEAD(self) -> None:
        self._answer(200 if urlsplit(self.path).path == "/ping" else 404, b"")

    def do_POST(self) -> None:
        settings = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        if self.users and not _is_known(self.headers.get("Authorization", ""), self.users):
            self._body()
            said = b"Code: 516. DB::Exception: Authentication failed: password is incorrect, or there is no user with such name."
            self._answer(403, said, {"X-ClickHouse-Exception-Code": "516"})
            return
        body = self._undone(self._body())
        if self.headers.get("Content-Type", "").startswith("multipart/form-data"):
            fields = self._form(body)
            body = fields.pop("query", b"")
            settings |= {name: value.decode() for name, value in fields.items()}
        if "query" in settings:
            body = settings["query"].encode() + b"\n" + body
        try:
            with self.lock:
                answer, shape = self._execute(body, settings)
        except Exception as error:  # noqa: BLE001 - whatever the engine says goes to the client
            said = str(error)
            code = _CODE.search(said)
            self._answer(
                404 if code and code[1] in ("60", "81") else 500,
                said.encode(),
                {"X-ClickHouse-Exception-Code": code[1] if code else "1002"},
            )
        else:
            self._answer(200, answer, {"X-ClickHouse-Format": shape} if shape else {})

    def _execute(self, body: bytes, settings: dict[str, str]) -> tuple[bytes, str]:
        import chdb

        parameters = {name[6:]: value for name, value in settings.items() if name.startswith("param_")}
        connection = chdb.connect(str(self.directory))
        try:
            if settings.get("database"):
                connection.query(f"USE `{settings['database']}`", "TabSeparated")
            # As on a server, where all settings of a request are checked before the first is in force.
            for name, value in sorted(settings.items(), key=lambda each: each[0] == "readonly"):
                if name not in _TRANSPORT and not name.startswith("param_"):
                    quoted = value.replace("\\", "\\\\").replace("'", "\\'")
                    connection.query(f"SET {name} = '{quoted}'", "TabSeparated")
            insert = _INSERT.match(body)
            if insert:
                self._insert(connection, insert, body[insert.end() :])
                return b"", ""
            sql = body.decode(errors="surrogateescape")
            shape = _FORMAT.search(sql)
            result = connection.query(sql, shape[1] if shape else "TabSeparated", params=parameters)
            answer = result.bytes() or b""
            rows = re.match(r"\s*(SELECT|WITH|SHOW|DESCRIBE|EXISTS)\b", sql, re.IGNORECASE)
            return answer, (shape[1] if shape else "TabSeparated") if rows else ""
        finally:
            connection.close()

    def _insert(self, connection: Any, insert: re.Match[bytes], data: bytes) -> None:
        into = insert["into"].decode()
        table = re.split(r"[\s(]", into, maxsplit=1)[0].strip("`")
        before_views = self._armed(DIE_BEFORE_VIEWS, table)
        if before_views:
            # What a kill between the two leaves behind: the rows, and nothing of what views make of them.
            connection.query(f"DETACH VIEW {table.replace('job_metrics', 'job_throughput_1m')}_fill", "TabSeparated")
        with tempfile.NamedTemporaryFile(dir=self.directory.parent, suffix=".data") as file:
            file.write(data)
            file.flush()
            connection.query(
                f"INSERT INTO {into} FROM INFILE '{file.name}' FORMAT {insert['format'].decode()}", "TabSeparated"
            )
        if before_views or self._armed(DIE_AFTER_INSERT, table):
            os.kill(os.getpid(), signal.SIGKILL)

    def _armed(self, how: str, table: str) -> bool:
        file = self.directory.with_name(how)
        if not file.exists() or file.read_text() not in ("", table):
            return False
        file.unlink()
        return True

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(parts)

    def _undone(self, body: bytes) -> bytes:
        encoding = self.headers.get("Content-Encoding", "")
        if encoding == "lz4":
            import lz4.frame

            return bytes(lz4.frame.decompress(body))
        if encoding == "zstd":
            from backports import zstd

            return zstd.decompress(body)
        if encoding == "gzip":
            import gzip

            return gzip.decompress(body)
        return body

    def _form(self, body: bytes) -> dict[str, bytes]:
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        message = email.message_from_bytes(head + body, policy=email.policy.HTTP)
        return {
            str(part.get_param("name", header="content-disposition")): part.get_payload(decode=True) or b""  # type: ignore[misc]
            for part in message.iter_parts()  # type: ignore[attr-defined]
        }

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Length": str(len(body)),
            "X-ClickHouse-Timezone": "UTC",
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def _is_known(authorization: str, users: Mapping[str, str]) -> bool:
    name, _, password = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
    return hmac.compare_digest(users.get(name, ""), hashlib.sha256(password.encode()).hexdigest())


class _Front(ThreadingHTTPServer):
    daemon_threads = True
    disable_nagle_algorithm = True


def serve(
    directory: Path,
    port: int,
    certificate: str = "",
    *,
    host: str = "127.0.0.1",
    users: Mapping[str, str] | None = None,
) -> None:
    """Serve the engine at `directory` on `host` and `port` until killed, over TLS with a `certificate`.

    `users` maps each user's name to the SHA-256 digest of the password. Without users, everybody is served.
    """
    import chdb

    held = chdb.connect(str(directory))  # Keeps the engine open between requests.
    held.query("SELECT 1", "TabSeparated")
    _Handler.directory = directory
    _Handler.disable_nagle_algorithm = True
    _Handler.users = users or {}
    front = _Front((host, port), _Handler)
    if certificate:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate)
        front.socket = context.wrap_socket(front.socket, server_side=True, do_handshake_on_connect=False)
    front.serve_forever()


class ClickHouseServer:
    """The front in a process of its own, over one directory that dismisses its deaths. With `tls` it speaks TLS alone, to `login` alone.

    Attributes:
        url: Where it answers, with a database named `schedmate`.
    """

    def __init__(self, scratch: Path, *, tls: Authority | None = None, login: tuple[str, str] = ("", "")) -> None:
        self._directory = scratch / "engine"
        self._log = scratch / "clickhouse.log"
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._secure = [str(tls.sign("clickhouse", host="127.0.0.1").both), *login] if tls else []
        user = f"{login[0]}@" if login[0] else ""
        self.url = f"{'https' if tls else 'http'}://{user}127.0.0.1:{self._port}/schedmate"

    @property
    def pid(self) -> int:
        """Its process, which must run."""
        assert self._process is not None
        return self._process.pid

    def start(self, deadline_s: float = 60.0) -> None:
        """Start it, and return once it answers."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "tests.servers.clickhouse",
                    str(self._directory),
                    str(self._port),
                    *self._secure,
                ],
                cwd=ROOT,
                stdout=log,
                stderr=log,
            )
        end = time.monotonic() + deadline_s
        while time.monotonic() < end:
            if self._process.poll() is not None:
                break
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
                return
            time.sleep(0.05)
        pytest.fail(f"ClickHouse's front did not come up:\n{self._log.read_text()[-2000:]}")

    def kill(self) -> None:
        """kill -9, and wait until it is gone."""
        if self._process is not None:
            kill(self._process)
            self._process = None

    def wait_dead(self, deadline_s: float = 30.0) -> None:
        """Return once it has died by itself."""
        assert self._process is not None
        self._process.wait(deadline_s)
        self._process = None

    def lose_parts(self) -> None:
        """Take the rows of the job tables from the dead server's disk, and leave the tokens under which they were inserted.

        What a kill leaves that falls between the two, when there was one insert.
        """
        assert self._process is None
        for log in (self._directory / "store").glob("*/*/deduplication_logs"):
            for part in log.parent.glob("*_*_*_*"):
                shutil.rmtree(part)

    def die_after_insert(self, table: str = "", *, before_views: bool = False) -> None:
        """Make it kill itself after the next insert (into `table`), before it answers; `before_views`: with the rows alone written."""
        (self._directory.parent / (DIE_BEFORE_VIEWS if before_views else DIE_AFTER_INSERT)).write_text(table)


@contextlib.contextmanager
def clickhouse_server(scratch: Path) -> Iterator[ClickHouseServer]:
    """Yield a running server whose files are in `scratch`."""
    server = ClickHouseServer(scratch)
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture(scope="module")
def clickhouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseServer]:
    """A running, empty ClickHouse over HTTP, one a module."""
    with clickhouse_server(tmp_path_factory.mktemp("clickhouse")) as server:
        yield server


if __name__ == "__main__":
    _, _at, _port, *_secure = sys.argv
    _certificate, _user, _password = _secure or ("", "", "")
    _digest = hashlib.sha256(_password.encode()).hexdigest()
    serve(Path(_at), int(_port), _certificate, users={_user: _digest} if _user else {})
