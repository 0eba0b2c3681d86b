"""Posts JSON within a time limit and follows no redirect."""

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from functools import partial
from typing import Any

from streams.resilience import Deadline
from streams.resilience.deadline import HTTPConnection, HTTPSConnection

from .channel import ChannelError

TIMEOUT_S = 10.0
"""Limit for one message, from the connection to the answer, in seconds."""


class _Http(urllib.request.HTTPHandler):
    """Opens connections that end with a deadline."""

    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(HTTPConnection, self._deadline), req)


class _Https(urllib.request.HTTPSHandler):
    """Opens TLS connections that end with a deadline."""

    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(partial(HTTPSConnection, self._deadline), req)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: it would become a GET without the message, and take the token to another host."""

    def redirect_request(self, *_: object) -> None:
        """Return no other request, so that the redirect counts as the answer."""


def post(url: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    """Post `body`. Raises `ChannelError` unless the server answers with a success; its text holds no path, which may be secret."""
    data = json.dumps(body).encode()
    if not url.startswith(("http://", "https://")):
        raise ChannelError("expected an address that begins with https:// or http://")
    headers = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(url, data, headers, method="POST")  # noqa: S310  # the scheme was checked
    where = url.split("//", 1)[-1].split("/", 1)[0].rpartition("@")[2]  # the rest may be a secret
    try:
        with Deadline(TIMEOUT_S) as deadline:
            opener = urllib.request.build_opener(_NoRedirects, _Http(deadline), _Https(deadline))
            with opener.open(request, timeout=TIMEOUT_S):
                pass  # only the status matters
    except urllib.error.HTTPError as error:
        raise ChannelError(f"expected {where} to take the message, got status {error.code}") from error
    except (OSError, ValueError) as error:
        came = f"no answer within {TIMEOUT_S:g} s" if deadline.expired else error
        raise ChannelError(f"expected {where} to take the message: {came}") from error
    except http.client.HTTPException as error:  # its text may quote the address
        came = f"no answer within {TIMEOUT_S:g} s" if deadline.expired else type(error).__name__
        raise ChannelError(f"expected an HTTP answer from {where}, got {came}") from error
