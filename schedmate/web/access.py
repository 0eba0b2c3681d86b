"""Identifies visitors and decides whether they may act. Unidentified visitors are rejected or get read-only access."""

import hmac
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Protocol

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

PROXY_HEADER: Final = "x-schedmate-proxy"
"""Header in which a proxy sends its password. Without it, anyone on this host could send a user's name."""
COOKIE: Final = "schedmate-operator"


@dataclass(frozen=True)
class Visitor:
    """A person at the page: `name` (empty: not known), and the `token` that their forms carry (empty: they may not act)."""

    name: str = ""
    token: str = ""

    @property
    def operator(self) -> bool:
        """Whether they may act."""
        return bool(self.token)


class Access(Protocol):
    """Identifies visitors."""

    def visitor(self, request: Request) -> Visitor:
        """Return who asks. Raises `HTTPException` where they may not even look."""


class Looking:
    """All visitors get read-only access."""

    def visitor(self, request: Request) -> Visitor:  # noqa: ARG002 - all get the same access
        """Return somebody."""
        return Visitor()


class Linked:
    """A visitor with the link that was printed at the start acts in the name of the user who started the page; others only read.

    Args:
        name: Who started it.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._key, self._session, self._token = (secrets.token_urlsafe(32) for _ in range(3))

    @property
    def link(self) -> str:
        """The path to open once, in the browser that is to act."""
        return f"/login?key={self._key}"

    def visitor(self, request: Request) -> Visitor:
        """Return the operator where the browser came by the link."""
        known = is_same_secret(request.cookies.get(COOKIE, ""), self._session)
        return Visitor(self._name, self._token) if known else Visitor()

    def login(self, request: Request) -> Response:
        """Remember the browser that brings the link's key. Raises `HTTPException` for any other key."""
        if not is_same_secret(request.query_params.get("key", ""), self._key):
            raise HTTPException(
                403,
                "This link belongs to an earlier start of the page. Use the link that `schedmate web` printed last.",
            )
        answer = RedirectResponse("/", 303)
        answer.set_cookie(COOKIE, self._session, httponly=True, samesite="strict")
        return answer


class Proxied:
    """A proxy on this host names people; who is not named by it is refused.

    Args:
        header: Where it names them.
        password: What it proves itself with.
        operators: Who may act.
    """

    def __init__(self, header: str, password: str, operators: Collection[str]) -> None:
        self._header = header
        self._password = password
        self._operators = frozenset(operators)
        self._key = secrets.token_bytes(32)

    def visitor(self, request: Request) -> Visitor:
        """Return the person that the proxy names. Raises `HTTPException` without its password, or without a name."""
        if not is_same_secret(_only(request, PROXY_HEADER), self._password):
            raise HTTPException(401, "Open the page through the authenticating proxy.")
        name = _name(_only(request, self._header))
        if not name:
            raise HTTPException(401, f"Expected one name in the header {self._header} from the proxy.")
        token = hmac.new(self._key, name.encode(), "sha256").hexdigest() if name in self._operators else ""
        return Visitor(name, token)


def _only(request: Request, header: str) -> str:
    """Return the value of a header; empty where it is missing, or comes several times: a visitor may have added one."""
    values = request.headers.getlist(header)
    return values[0] if len(values) == 1 else ""


def _name(value: str) -> str:
    """Return the name that a header's value holds; empty where it holds none.

    Nothing is stripped: `alice` and `alice` with a space are two people.
    """
    try:
        name = value.encode("latin-1").decode()  # the server decodes bytes as Latin-1, proxies send UTF-8
    except UnicodeDecodeError:
        return ""
    return name if len(name) <= 256 and name.isprintable() and name == name.strip() else ""


def is_same_secret(given: str, known: str) -> bool:
    """Return whether a secret is the expected one, in a time that reveals nothing of it; an empty one never is."""
    return bool(known) and hmac.compare_digest(given.encode(), known.encode())
