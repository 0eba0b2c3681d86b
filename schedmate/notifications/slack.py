"""Incoming webhooks of Slack, and of the servers that accept the same messages."""

from typing import Self

from ..settings.settings import read_secret
from .channel import Channel, ChannelSettings
from .message import TEXT, Notification
from .posting import post
from .urgency import Urgency


class SlackChannel(Channel):
    """Posts a text to an incoming webhook of Slack, Mattermost, Rocket.Chat or Discord (`/slack`).

    Args:
        url: The webhook's address, which is its secret.
        severity: Least severity of the messages that it gets.
    """

    name = "slack"

    def __init__(self, url: str, severity: Urgency = Urgency.WARNING) -> None:
        self._url, self.severity = url, severity

    @classmethod
    def from_settings(cls, settings: ChannelSettings) -> Self | None:
        """Return the webhook whose address is in `notify.slack_file`."""
        notify = settings.notify
        return cls(read_secret(notify.slack_file), notify.slack_severity) if notify.slack_file else None

    def send(self, message: Notification, user: str) -> None:  # noqa: ARG002 - as the interface has it
        """Post it."""
        quotes = "```" + _escaped("\n".join(message.quotes)).replace("```", "'''") + "```" if message.quotes else ""
        text = f"*{message.severity}* · *{_escaped(message.title)}*\n{_escaped(chr(10).join(message.lines))}"
        post(self._url, {"text": "\n".join(part for part in (text[:TEXT], quotes[:TEXT]) if part)}, {})


def _escaped(text: str) -> str:
    """Return a text without mentions and links: those of Slack, and `@all` and `[x](address)` of Mattermost and others."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("@", "@\u200b").replace("](", "]\u200b(")
