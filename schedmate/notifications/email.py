"""E-mail."""

import re
import smtplib
import ssl
from email.message import EmailMessage
from typing import TYPE_CHECKING, Self

from streams.resilience import Deadline
from streams.resilience.deadline import SMTP

from .channel import Channel, ChannelError, ChannelSettings
from .message import TEXT, Notification, header_text
from .urgency import Urgency

if TYPE_CHECKING:
    from ..settings.settings import NotifySection

TIMEOUT_S = 10.0
"""Limit for one message, from the connection to the last answer, in seconds."""
_ADDRESSABLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
"""Names of users that may become a part of an address."""


class EmailChannel(Channel):
    """Sends e-mail.

    Args:
        server: `host:port`.
        sender: Its address.
        to: Who gets every message.
        user_domain: Domain of the addresses of jobs' owners, USER@DOMAIN; empty: owners get no messages.
        login: User and password; None: none.
        tls: Whether the server must offer STARTTLS.
        severity: Least severity of the messages that it sends.
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
        severity: Urgency = Urgency.CRITICAL,
    ) -> None:
        host, _, port = server.rpartition(":")
        self._host, self._port = (host, int(port)) if host and port.isdecimal() else (server, 25)
        self._sender, self._to, self._user_domain = sender, to, user_domain
        self._login, self._tls = login, tls
        self.severity = severity

    @classmethod
    def from_settings(cls, settings: ChannelSettings) -> Self | None:
        """Return the channel that uses the server `notify.smtp`."""
        notify = settings.notify
        return cls.to_receivers(notify, notify.email_to, notify.email_severity) if notify.smtp else None

    @classmethod
    def to_receivers(cls, notify: "NotifySection", receivers: tuple[str, ...], severity: Urgency) -> Self:
        """Return a channel to `receivers` and to the owner of each job."""
        return cls(
            notify.smtp,
            notify.email_from,
            receivers,
            user_domain=notify.email_user_domain,
            login=(notify.smtp_user, notify.secret()) if notify.smtp_user else None,
            tls=notify.smtp_tls,
            severity=severity,
        )

    def send(self, message: Notification, user: str) -> None:
        """Send it; do nothing without a recipient."""
        owner = [f"{user}@{self._user_domain}"] if self._user_domain and _ADDRESSABLE.fullmatch(user) else []
        receivers = [*self._to, *owner]
        if not receivers:
            return
        mail = EmailMessage()
        mail["From"], mail["To"] = self._sender, ", ".join(receivers)
        mail["Subject"] = f"[schedmate {message.severity}] {header_text(message.title)}"
        mail["X-SchedMate-Key"] = header_text(message.key)
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
