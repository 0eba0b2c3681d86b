"""Who may act on the page, and what becomes of it."""

import contextlib
import functools
import http.client
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.cookiejar import CookieJar

import pytest

from schedmate.web.access import PROXY_HEADER, Access, Linked, Looking, Proxied
from schedmate.web.acts import LARGEST_FORM, Act
from schedmate_records import Command
from streams.transport import TransportError
from tests.servers.web import web_server
from tests.sinks.conftest import Embedded, embedded

from .history import HOSTILE, write

__all__ = ["embedded"]

WAITS = "restart/'; rm -rf ~"
PASSWORD = "a proxy's password"
HEADER = "X-Forwarded-User"


class Site:
    """A browser's side of a page."""

    def __init__(self, address: str, page: "Served") -> None:
        self.address = address
        self.page = page
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        return self._open(urllib.request.Request(self.address + path, headers=headers))

    def post(self, headers: dict[str, str] | None = None, **form: str) -> tuple[int, str]:
        body = urllib.parse.urlencode(form).encode()
        return self._open(urllib.request.Request(f"{self.address}/act", body, headers or {}))

    def token(self, **headers: str) -> str:
        found = re.search(r'name="token" value="([^"]+)"', self.get("/decisions", **headers)[1])
        assert found
        return found[1]

    def _open(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with self._opener.open(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


@pytest.fixture(scope="module")
def history(embedded: Embedded) -> Embedded:
    write(embedded)
    return embedded


class Served:
    """A page that runs, what was written through it, and whether the broker is away."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self.written: list[Act] = []
        self.away = False

    def take(self, act: Act) -> None:
        if self.away:
            raise TransportError("no broker")
        self.written.append(act)


@pytest.fixture(scope="module")
def served(history: Embedded) -> Iterator[Callable[[str], tuple[str, Served]]]:
    """Start the page under a way of access, once each: its first look at the history is most of what a test takes."""
    ways: dict[str, Callable[[], Access]] = {
        "linked": lambda: Linked("alice"),
        "proxied": lambda: Proxied(HEADER, PASSWORD, {"carol"}),
        "looking": Looking,
    }
    with ExitStack() as running:

        @functools.cache
        def start(way: str) -> tuple[str, Served]:
            page = Served(ways[way]())
            address = web_server(history.connect, {}, access=page.access, write=page.take)
            return running.enter_context(address), page

        yield start


@pytest.fixture(params=["linked"])
def site(request: pytest.FixtureRequest, served: Callable[[str], tuple[str, Served]]) -> Site:
    """A browser that comes for the first time to a page through which nothing was written yet."""
    address, page = served(request.param)
    page.written.clear()
    page.away = False
    return Site(address, page)


def test_whoever_holds_the_link_acts_in_the_name_of_who_started_it(site: Site) -> None:
    assert 'name="token"' not in site.get("/decisions")[1]
    assert isinstance(site.page.access, Linked)
    assert site.get(site.page.access.link)[0] == 200
    status, page = site.post(token=site.token(), command="approve", about=WAITS, reason=" it is\n drained ")
    assert (status, "Approved." in page) == (200, True)
    (act,) = site.page.written
    assert (act.command, act.about, act.reason, act.user, act.job) == (
        Command.APPROVE, WAITS, "it is drained", "alice", HOSTILE,
    )  # fmt: skip
    assert act.expires


def test_stopping_and_lifting(site: Site) -> None:
    assert isinstance(site.page.access, Linked)
    site.get(site.page.access.link)
    token = site.token()
    assert site.post(token=token, command="stop", reason="fire")[0] == 200
    assert site.post(token=token, command="resume", reason="out")[0] == 200
    stop, lifted = site.page.written
    assert (stop.command, stop.job, bool(stop.about)) == (Command.STOP, "", True)
    assert (lifted.command, lifted.about) == (Command.RESUME, "s1")


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"token": "guessed"}, 403),
        ({"token": ""}, 403),
        ({"command": "evict"}, 400),
        ({"reason": " "}, 400),
        ({"reason": "x" * 501}, 400),
        ({"about": "restart/again"}, 409),
        ({"about": ""}, 409),
        ({"about": "' OR 1=1 --"}, 409),
        ({"reason": "x" * LARGEST_FORM}, 413),
    ],
    ids=str,
)
def test_what_is_refused_writes_nothing(site: Site, change: dict[str, str], status: int) -> None:
    assert isinstance(site.page.access, Linked)
    site.get(site.page.access.link)
    form = {"token": site.token(), "command": "reject", "about": WAITS, "reason": "no"} | change
    assert site.post(**form)[0] == status
    assert site.page.written == []


def test_a_form_of_another_site_is_refused(site: Site) -> None:
    assert isinstance(site.page.access, Linked)
    site.get(site.page.access.link)
    form = {"token": site.token(), "command": "reject", "about": WAITS, "reason": "no"}
    assert site.post({"Origin": "http://evil.example"}, **form)[0] == 403
    for origin in ("null", "http://[", "http://[::1", "//", "http://evil.example]", "\xa0"):
        assert site.post({"Origin": origin}, **form)[0] == 403
    assert site.page.written == []
    assert site.post({"Origin": site.address}, **form)[0] == 200


def test_a_link_of_another_start_opens_nothing(site: Site) -> None:
    assert site.get("/login?key=guessed")[0] == 403
    assert site.get("/login")[0] == 403
    assert 'name="token"' not in site.get("/decisions")[1]


def test_a_broker_that_is_away_is_said(site: Site) -> None:
    assert isinstance(site.page.access, Linked)
    site.get(site.page.access.link)
    site.page.away = True
    status, page = site.post(token=site.token(), command="stop", reason="fire")
    assert (status, "nothing changed" in page) == (503, True)


@pytest.mark.parametrize("site", ["looking"], indirect=True)
def test_without_an_operator_nobody_acts(site: Site) -> None:
    assert site.post(token="", command="stop", reason="fire")[0] == 403
    assert site.get("/login?key=")[0] == 404
    assert site.page.written == []


@pytest.mark.parametrize("site", ["proxied"], indirect=True)
class TestBehindAProxy:
    """The proxy names people and proves itself by a password."""

    def test_operators_act_in_their_own_name(self, site: Site) -> None:
        known = {HEADER: "carol", PROXY_HEADER: PASSWORD}
        form = {"token": site.token(**known), "command": "reject", "about": WAITS, "reason": "no"}
        assert site.post(known, **form)[0] == 200
        assert [(act.command, act.user) for act in site.page.written] == [(Command.REJECT, "carol")]

    def test_others_look(self, site: Site) -> None:
        token = site.token(**{HEADER: "carol", PROXY_HEADER: PASSWORD})
        known = {HEADER: "dave", PROXY_HEADER: PASSWORD}
        status, page = site.get("/decisions", **known)
        assert (status, 'name="token"' in page) == (200, False)
        assert site.post(known, token=token, command="stop", reason="fire")[0] == 403
        assert site.page.written == []

    @pytest.mark.parametrize(
        "headers",
        [
            {},
            {HEADER: "carol"},
            {HEADER: "carol", PROXY_HEADER: "guessed"},
            {PROXY_HEADER: PASSWORD},
            {HEADER: " ", PROXY_HEADER: PASSWORD},
            {HEADER: "carol\xa0", PROXY_HEADER: PASSWORD},
            {HEADER: "carol\xc2\xa0", PROXY_HEADER: PASSWORD},
            {HEADER: "\xa0carol", PROXY_HEADER: PASSWORD},
            {HEADER: "carol\x85", PROXY_HEADER: PASSWORD},
            {HEADER: "c" * 257, PROXY_HEADER: PASSWORD},
        ],
        ids=str,
    )
    def test_who_comes_past_it_does_not_even_look(self, site: Site, headers: dict[str, str]) -> None:
        for path in ("/", "/jobs.json", "/decisions", "/lines?topic=job-logs"):
            assert site.get(path, **headers)[0] == 401
        assert site.post(headers, command="stop", reason="fire")[0] == 401
        assert site.get("/health", **headers)[0] == 200

    @pytest.mark.parametrize(
        "twice", [(HEADER, "carol", "dave"), (HEADER, "carol", "carol"), (PROXY_HEADER, PASSWORD, "")]
    )
    def test_a_header_that_comes_twice_names_nobody(self, site: Site, twice: tuple[str, str, str]) -> None:
        name, *values = twice
        connection = http.client.HTTPConnection(site.address.removeprefix("http://"), timeout=60)
        connection.putrequest("GET", "/decisions")
        for header, value in {HEADER: "carol", PROXY_HEADER: PASSWORD}.items():
            if header != name:
                connection.putheader(header, value)
        for value in values:
            connection.putheader(name, value)
        connection.endheaders()
        with contextlib.closing(connection):
            assert connection.getresponse().status == 401

    def test_a_name_may_hold_other_letters(self, site: Site) -> None:
        known = {HEADER: "andr\u00e0".encode().decode("latin-1"), PROXY_HEADER: PASSWORD}
        assert site.get("/decisions", **known)[0] == 200


def test_a_form_of_many_fields_is_refused(site: Site) -> None:
    assert isinstance(site.page.access, Linked)
    site.get(site.page.access.link)
    assert site.post(token=site.token(), **{f"field{number}": "1" for number in range(100)})[0] == 400
    assert site.page.written == []


@pytest.mark.parametrize("host", ["127.0.0.1:[", "127.0.0.1:x", "[", "localhost:99999", "a@127.0.0.1"])
def test_a_host_that_is_no_address_makes_no_error_of_ours(site: Site, host: str) -> None:
    for path in ("/", "/decisions", "/health", "/static/nothing", "/nothing.json"):
        assert site.get(path, Host=host)[0] < 500
    assert site.post({"Host": host, "Origin": f"http://{host}"}, command="stop")[0] in (400, 403)
