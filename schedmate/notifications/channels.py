"""Where messages go: a webhook, a Slack-compatible one, e-mail. Each call ends within its time limit, or raises `ChannelError`."""

import http.client
import json
import re
import smtplib
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from email.message import EmailMessage
from functools import partial
from typing import Any, Protocol

import msgspec

from schedmate_records import UserError
from streams.resilience import Deadline
from streams.resilience.deadline import SMTP, HTTPConnection, HTTPSConnection

from .message import Notification

TIMEOUT_S = 10.0
"""Limit for one message, from the connection to the answer, in seconds."""
SUBJECT, TEXT = 200, 20_000
"""Characters of a subject, and of a text."""
_ADDRESSABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
"""Names of users that may become a part of an address."""


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


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the message would be left behind, as a GET has none, and the token taken along to another host."""

    def redirect_request(self, *_: object) -> None:
        """Return no other request: the answer counts as it came."""


class ChannelError(UserError):
    """A message was not delivered; the text states what came. It may be tried again."""


class Channel(Protocol):
    """One way to people."""

    name: str

    def send(self, message: Notification, user: str) -> None:
        """Send a message. `user` owns its job; empty where not known.

        Raises:
            ChannelError: It did not go.
        """


class WebhookChannel:
    """Posts the whole record with title, text and labels, as JSON. The key of the message is in `Idempotency-Key`.

    Args:
        url: Where to.
        token: Sent as bearer token; empty: none.
    """

    name = "webhook"

    def __init__(self, url: str, token: str = "") -> None:
        self._url, self._token = url, token

    def send(self, message: Notification, user: str) -> None:
        """Post it."""
        body = {
            "severity": message.severity,
            "title": message.title,
            "text": "\n".join(message.lines),
            "quotes": message.quotes,
            "labels": {**message.labels, "user": user},
            "record": msgspec.to_builtins(message.record),
        }
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        _post(self._url, body, {**headers, "Idempotency-Key": _plain(message.key)})


class SlackChannel:
    """Posts a text to an incoming webhook of Slack, Mattermost, Rocket.Chat or Discord (`/slack`).

    Args:
        url: The webhook's address, which is its secret.
    """

    name = "slack"

    def __init__(self, url: str) -> None:
        self._url = url

    def send(self, message: Notification, user: str) -> None:  # noqa: ARG002 - as the protocol has it
        """Post it."""
        quotes = "```" + _escaped("\n".join(message.quotes)).replace("```", "'''") + "```" if message.quotes else ""
        text = f"*{message.severity}* · *{_escaped(message.title)}*\n{_escaped(chr(10).join(message.lines))}"
        _post(self._url, {"text": "\n".join(part for part in (text[:TEXT], quotes[:TEXT]) if part)}, {})


class EmailChannel:
    """Sends e-mail.

    Args:
        server: `host:port`.
        sender: Its address.
        to: Who gets every message.
        user_domain: Domain of the addresses of jobs' owners, USER@DOMAIN; empty: owners get no messages.
        login: User and password; None: none.
        tls: Whether the server must offer STARTTLS.
    """

    name = "email"

    def __init__(
        self,
        server: str,
        sender: str,
        to: tuple[str, ...],
        *,
        user_domain: str = "",
        login: tuple[str, str] | None = None,
        tls: bool = True,
    ) -> None:
        host, _, port = server.rpartition(":")
        self._host, self._port = (host, int(port)) if host and port.isdecimal() else (server, 25)
        self._sender, self._to, self._user_domain = sender, to, user_domain
        self._login, self._tls = login, tls

    def send(self, message: Notification, user: str) -> None:
        """Send it; do nothing without a recipient."""
        owner = [f"{user}@{self._user_domain}"] if self._user_domain and _ADDRESSABLE.fullmatch(user) else []
        receivers = [*self._to, *owner]
        if not receivers:
            return
        mail = EmailMessage()
        mail["From"], mail["To"] = self._sender, ", ".join(receivers)
        mail["Subject"] = f"[schedmate {message.severity}] {_plain(message.title)}"
        mail["X-SchedMate-Key"] = _plain(message.key)
        quoted = [f"> {line}" for quote in message.quotes for line in quote.splitlines()]
        mail.set_content("\n".join([*message.lines, *([""] if quoted else []), *quoted])[:TEXT])
        try:
            with (
                Deadline(TIMEOUT_S) as deadline,
                SMTP(deadline, self._host, self._port, timeout=TIMEOUT_S) as smtp,
            ):
                if self._tls:
                    smtp.starttls(context=ssl.create_default_context())
                if self._login:
                    smtp.login(*self._login)
                smtp.send_message(mail)
        except (OSError, smtplib.SMTPException) as error:
            came = f"nothing within {TIMEOUT_S:g} s" if deadline.expired else error
            raise ChannelError(f"expected {self._host}:{self._port} to take the mail: {came}") from error


def _post(url: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    data = json.dumps(body).encode()
    if not url.startswith(("http://", "https://")):
        raise ChannelError("expected an address that begins with https:// or http://")
    headers = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(url, data, headers, method="POST")  # noqa: S310  # the scheme was looked at
    where = url.split("//", 1)[-1].split("/", 1)[0].rpartition("@")[2]  # the rest may be a secret
    try:
        with Deadline(TIMEOUT_S) as deadline:
            opener = urllib.request.build_opener(_Stay, _Http(deadline), _Https(deadline))
            with opener.open(request, timeout=TIMEOUT_S):
                pass  # the status is all that counts
    except urllib.error.HTTPError as error:
        raise ChannelError(f"expected {where} to take the message, got status {error.code}") from error
    except (OSError, ValueError) as error:
        came = f"no answer within {TIMEOUT_S:g} s" if deadline.expired else error
        raise ChannelError(f"expected {where} to take the message: {came}") from error
    except http.client.HTTPException as error:  # no HTTP came; its text may quote the address
        came = f"no answer within {TIMEOUT_S:g} s" if deadline.expired else type(error).__name__
        raise ChannelError(f"expected an HTTP answer from {where}, got {came}") from error


def _plain(text: str) -> str:
    """Return a text as one line of a header may hold it."""
    return "".join(letter if letter.isprintable() and letter.isascii() else "?" for letter in text)[:SUBJECT]


def _escaped(text: str) -> str:
    """Return a text in which neither Slack nor its kin, which read `@all` and `[x](address)`, find a mention or a link behind words."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("@", "@\u200b").replace("](", "]\u200b(")
