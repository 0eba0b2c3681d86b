"""The proxy that `docs/web.md` describes, with a real nginx: who comes without a session, and who names somebody else."""

import contextlib
import http.server
import re
import shutil
import subprocess
import textwrap
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedmate.web.access import PROXY_HEADER, Proxied
from tests.docs.pages import ROOT
from tests.servers import free_port, require
from tests.servers.web import web_server
from tests.sinks.conftest import Embedded, embedded

from .history import write

__all__ = ["embedded"]

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
NAME, PASSWORD = "schedmate.example.org", "a proxy's password"
PATIENCE_S = 20.0


class SignedIn(http.server.BaseHTTPRequestHandler):
    """What oauth2-proxy answers nginx: 202 and the address of who holds the session, 401 without one."""

    def do_GET(self) -> None:
        known = self.headers.get("Cookie") == "session=alice"
        self.send_response(202 if known else 401)
        if known:
            self.send_header("X-Auth-Request-Email", "alice@example.org")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def signing_in() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), SignedIn) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def configuration(folder: Path, port: int, signing: int, page: str) -> str:
    """Return the page's own configuration, on ports of ours and without TLS."""
    text = (ROOT / "docs" / "web.md").read_text()
    found = re.search(r"^nginx:\n\n((?:    .*\n|\n)+)", text, re.MULTILINE)
    assert found
    server = textwrap.dedent(found[1])
    for told, ours in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port}"),
        ("127.0.0.1:4180", f"127.0.0.1:{signing}"),
        ("http://127.0.0.1:8787", page),
        ("/etc/schedmate/proxy.conf", str(folder / "proxy.conf")),
    ):
        assert told in server
        server = server.replace(told, ours)
    said = re.search(r"# (proxy_set_header X-SchedMate-Proxy [^\n]+)", server)
    assert said
    (folder / "proxy.conf").write_text(said[1].replace("the password", PASSWORD))
    kept = "".join(
        f"{kind}_temp_path {folder / kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return (
        f"daemon off; pid {folder / 'pid'}; error_log stderr; events {{}} http {{ access_log off; {kept}\n{server} }}"
    )


@pytest.fixture
def proxy(embedded: Embedded, tmp_path: Path) -> Iterator[str]:
    require(NGINX is not None, "nginx", "apt-get install nginx-light, or run make test as root.")
    assert NGINX is not None
    write(embedded)
    access = Proxied("X-Forwarded-User", PASSWORD, {"alice@example.org", "bob@example.org"})
    with (
        web_server(embedded.connect, {}, access=access, hosts=(NAME,), write=lambda _: None) as page,
        signing_in() as signing,
    ):
        port = free_port()
        file = tmp_path / "nginx.conf"
        file.write_text(configuration(tmp_path, port, signing, page))
        with subprocess.Popen([NGINX, "-c", str(file), "-p", str(tmp_path)], stderr=subprocess.PIPE) as nginx:
            yield f"http://127.0.0.1:{port}"
            nginx.terminate()


class Refusing(urllib.request.HTTPRedirectHandler):
    """Follows nothing."""

    def redirect_request(self, *_: object) -> None:
        """Stay."""


def ask(address: str, **headers: str) -> tuple[int, str, str]:
    """Return the code of the answer, where it leads, and its text."""
    opener = urllib.request.build_opener(Refusing)
    request = urllib.request.Request(f"{address}/decisions", headers={"Host": NAME, **headers})
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            with opener.open(request, timeout=PATIENCE_S) as answer:
                return answer.status, "", answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers.get("Location", ""), error.read().decode()
        except OSError:  # it is still starting
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def test_who_signed_in_acts_in_their_own_name_whatever_their_browser_sends(proxy: str) -> None:
    code, to, _ = ask(proxy)
    assert (code, to.partition("?")[0].endswith("/oauth2/sign_in")) == (302, True)
    forged = {"X-Forwarded-User": "bob@example.org", PROXY_HEADER: PASSWORD}
    assert ask(proxy, **forged)[0] == 302, "nobody is let in by a header"
    for headers in ({}, forged, {PROXY_HEADER: "guessed"}):
        code, _, page = ask(proxy, Cookie="session=alice", **headers)
        assert code == 200
        assert 'You act as <span class="name">alice@example.org</span>' in page
        assert "bob@example.org" not in page
