"""Messages to people: what was decided and done, why, by whom and on which evidence. They never stand in the way of acting."""

from .channels import Channel, ChannelError, EmailChannel, SlackChannel, WebhookChannel
from .message import Message, Severity, describe
from .notifier import Notifier, NotifierMetrics

__all__ = [
    "Channel",
    "ChannelError",
    "EmailChannel",
    "Message",
    "Notifier",
    "NotifierMetrics",
    "Severity",
    "SlackChannel",
    "WebhookChannel",
    "describe",
]
