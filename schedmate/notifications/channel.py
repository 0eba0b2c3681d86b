"""The interface of a channel, a way to send messages to people. Channels are found through the entry points `schedmate.channels`."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import BaseModel

from processors.settings import NoSettings
from schedmate_records import UserError

from .message import Notification
from .urgency import Urgency

if TYPE_CHECKING:
    from ..settings.settings import NotifySection


class ChannelError(UserError):
    """A message was not delivered; the text states the reason. The message is sent again."""


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """The settings that a channel is made from.

    Attributes:
        notify: The section `notify`.
        section: The channel's own section, an instance of `Channel.settings`.
    """

    notify: "NotifySection"
    section: Any


class Channel(ABC):
    """A way to send messages to people.

    Attributes:
        name: The name of the entry point, of the settings section and in metrics: lower-case letters, digits and `_`.
        settings: The model of the settings section `[name]`.
        severity: Least severity of the messages that it sends.
    """

    name: ClassVar[str]
    settings: ClassVar[type[BaseModel]] = NoSettings
    severity: Urgency = Urgency.WARNING

    @classmethod
    @abstractmethod
    def from_settings(cls, settings: ChannelSettings) -> Self | None:
        """Return the channel; None where the settings do not configure it."""

    @abstractmethod
    def send(self, message: Notification, user: str) -> None:
        """Send a message. Called in a thread of the channel; returns within seconds.

        Args:
            message: The message.
            user: Owner of the message's job; empty where not known.

        Raises:
            ChannelError: The message was not delivered.
        """
