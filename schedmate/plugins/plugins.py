"""Extensions that other distributions install: entry points (`importlib.metadata`), by group."""

from typing import Any

from schedmate_records import UserError

SCHEDULERS = "schedmate.schedulers"
"""Each names a subclass of `scheduler_bridge.schedulers.scheduler.Scheduler`."""
EMBEDDERS = "schedmate.embedders"
"""Each names a function that takes the settings `embedder_model` and `embedder_url` and returns an `Embedder`."""
STAGES = "schedmate.stages"
"""Each names a subclass of `processors.stage.Stage`."""
CHANNELS = "schedmate.channels"
"""Each names a subclass of `schedmate.notifications.channel.Channel`."""


class PluginError(UserError):
    """An extension that is not installed, or cannot be loaded; the message states what to do."""


def installed(group: str) -> list[str]:
    """Return the names of the extensions of a group, sorted. Reads the metadata alone, and loads none."""
    from importlib.metadata import entry_points  # noqa: PLC0415  # takes milliseconds that `schedmate pipe` does not have

    return sorted({each.name for each in entry_points(group=group)})


def is_plugin(name: str) -> bool:
    """Return whether a plugin that may have a settings section has this name. Reads the metadata of all distributions."""
    return any(name in installed(group) for group in (SCHEDULERS, STAGES, CHANNELS))


def load_plugin(group: str, name: str, what: str) -> Any:
    """Import the extension `name` and return it.

    Args:
        group: The group of entry points.
        name: The name of the entry point.
        what: A word for the extension in messages, such as `scheduler`.

    Raises:
        PluginError: The extension is not installed, is installed twice, or cannot be imported.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415

    found = tuple(entry_points(group=group, name=name))
    if not found:
        names = ", ".join(installed(group)) or f"none: install schedmate again, its metadata has no group {group}"
        raise PluginError(f"expected an installed {what}, got {name}; installed: {names}")
    if len(found) > 1:
        owners = " and ".join(each.dist.name if each.dist else each.value for each in found)
        raise PluginError(f"expected one {what} named {name}, got one of {owners} each: uninstall all but one")
    try:
        return found[0].load()
    except Exception as error:  # the import runs code of another distribution
        raise PluginError(f"expected the {what} {name} ({found[0].value}) to be importable: {error!r}") from error
