"""One request to the dashboard of a Ray head: a time limit, a bound of the answer, each error by name."""

import http.client
import os
import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from streams.resilience.deadline import Deadline, HTTPConnection, HTTPSConnection

from .errors import RayConflict, RayError, RayNotFound, RayRefused, RayUnavailable

LARGEST = 64 << 20
"""Bytes of an answer. A job that failed carries up to 20,000 characters of its log in the list of jobs."""
_DEFAULT = "http://127.0.0.1:8265"


@dataclass(frozen=True, slots=True)
class RayConnection:
    """Address and credentials of the dashboard.

    Attributes:
        address: `http://HOST:8265`, or `https://…`.
        token: The cluster's token (`RAY_AUTH_MODE=token`); empty for none.
        timeout: Seconds that one request may take, its answer included.
    """

    address: str
    token: str = field(default="", repr=False)
    timeout: float = 10.0

    @classmethod
    def find(cls, address: str = "", environment: Mapping[str, str] = os.environ) -> "RayConnection":
        """Connect as `ray job` does: by RAY_API_SERVER_ADDRESS or RAY_ADDRESS, RAY_AUTH_TOKEN, RAY_AUTH_TOKEN_PATH or ~/.ray/auth_token.

        Raises:
            RayUnavailable: The address is none of HTTP, or the file of the token cannot be read.
        """
        address = address or environment.get("RAY_API_SERVER_ADDRESS", "") or environment.get("RAY_ADDRESS", "")
        if address and urlsplit(address).scheme not in ("http", "https"):
            remedy = "set RAY_API_SERVER_ADDRESS to the dashboard's address"
            raise RayUnavailable(f"an address such as {_DEFAULT}", repr(address[:200]), remedy)
        token = environment.get("RAY_AUTH_TOKEN", "")
        named = environment.get("RAY_AUTH_TOKEN_PATH", "")
        file = Path(named) if named else Path.home() / ".ray" / "auth_token"
        if not token and (named or file.exists()):
            try:
                token = file.read_text("ascii")
            except (OSError, UnicodeDecodeError) as error:
                expected = f"a token in {file}"
                raise RayUnavailable(expected, type(error).__name__, "see RAY_AUTH_TOKEN_PATH") from error
        return cls(address.rstrip("/") or _DEFAULT, token.strip())

    def request(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Return the body of an answer.

        Raises:
            RayUnavailable: No answer in time, or one that shows that the head is not whole.
            RayNotFound: 404.
            RayConflict: The submission id is taken.
            RayRefused: Any other refusal.
        """
        parts = urlsplit(self.address)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        try:
            with (
                Deadline(self.timeout) as deadline,
                closing(kind(deadline, parts.hostname or "", parts.port, timeout=self.timeout)) as connection,
            ):
                connection.request(method, parts.path + path, body, headers)
                response = connection.getresponse()
                content = response.read(LARGEST + 1)
            if deadline.expired:
                raise TimeoutError("the answer is not whole yet")
            if len(content) > LARGEST:
                raise ValueError(f"an answer of more than {LARGEST} bytes: delete old jobs")
        except (OSError, http.client.HTTPException, ValueError) as error:
            late = f"no whole answer within {self.timeout:g} s"
            came = late if deadline.expired else f"{type(error).__name__}: {str(error)[:200]}"
            raise RayUnavailable(f"an answer of Ray at {self.address}", came, "is its head running?") from error
        if response.status != http.client.OK:
            raise _error(response.status, content, f"{method} {path.partition('?')[0]}")
        return content


def _error(status: int, content: bytes, what: str) -> RayError:
    text = content[-20_000:].decode("utf-8", "replace")
    if status == http.client.NOT_FOUND:
        return RayNotFound(what, text[:200], "it may have been deleted, or the head began anew")
    if status in (http.client.UNAUTHORIZED, http.client.FORBIDDEN):
        return RayRefused(what, f"status {status}: {text[:200]}", "set RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH")
    # The dashboard answers a request that it does not take with status 500 and a traceback.
    said = re.findall(r"^(?:ValueError|TypeError|KeyError): .*$", text, flags=re.MULTILINE)
    came = said[-1][:300] if said else f"status {status}: {text.strip()[-200:]}"
    if said and "already exists" in said[-1]:
        return RayConflict(what, came, "nothing was done")
    if said or status < http.client.INTERNAL_SERVER_ERROR:
        return RayRefused(what, came, "nothing was done")
    return RayUnavailable(what, came, "it is asked again")
