"""The webhook."""

from typing import Self

import msgspec

from ..settings.settings import read_secret
from .channel import Channel, ChannelSettings
from .message import Notification, header_text
from .posting import post
from .urgency import Urgency


class WebhookChannel(Channel):
    """Posts the whole record with title, text and labels, as JSON. The key of the message is in `Idempotency-Key`.

    Args:
        url: Its address.
        token: Sent as bearer token; empty: none.
        severity: Least severity of the messages that it gets.
    """

    name = "webhook"

    def __init__(self, url: str, token: str = "", severity: Urgency = Urgency.INFO) -> None:
        self._url, self._token, self.severity = url, token, severity

    @classmethod
    def from_settings(cls, settings: ChannelSettings) -> Self | None:
        """Return the webhook of `notify.webhook`."""
        notify = settings.notify
        if not notify.webhook:
            return None
        token = read_secret(notify.webhook_token_file) if notify.webhook_token_file else ""
        return cls(notify.webhook, token, notify.webhook_severity)

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
        post(self._url, body, {**headers, "Idempotency-Key": header_text(message.key)})
