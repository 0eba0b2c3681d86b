"""The installed channels that the settings configure."""

from typing import Any

from ..notifications.channel import Channel, ChannelSettings
from ..settings.settings import NotifySection, PluginSections, SettingsError
from .loading import check_plugin, load_usable
from .plugins import CHANNELS


def open_channels(notify: NotifySection, sections: PluginSections) -> list[Channel]:
    """Return the channels that are configured. One of another distribution that cannot be used is logged and left out.

    Raises:
        SettingsError: No channel is configured, or a value or a file is refused.
    """

    def create(name: str, kind: Any) -> Channel | None:
        check_plugin(name, kind, Channel, "channel")
        made: Channel | None = kind.from_settings(ChannelSettings(notify, sections.read(name, kind.settings)))
        return made

    found = [channel for channel in load_usable(CHANNELS, "channel", create) if channel is not None]
    if not found:
        raise SettingsError(
            "expected a receiver: notify.webhook, notify.slack_file, notify.smtp, or the section of an installed channel"
        )
    return found
