"""Loads the plugins of a group, and leaves out those of other distributions that cannot be used."""

import re
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, TypeVar

import structlog

from schedmate_records import UserError

from ..settings.settings import Settings, SettingsError
from .plugins import CHANNELS, SCHEDULERS, STAGES, PluginError, installed, load_plugin

log = structlog.get_logger(__name__)

Made = TypeVar("Made")


def load_usable(group: str, what: str, create: Callable[[str, Any], Made]) -> list[Made]:
    """Return what `create` makes of the name and the object of each plugin of a group.

    A plugin of another distribution that cannot be imported or created, or has the name of one that ships, is logged and left out.

    Raises:
        PluginError: A plugin that ships cannot be used.
        SettingsError: A value in the section of a plugin is refused.
    """
    made = []
    for name in installed(group):
        found = entry_points(group=group, name=name)
        ours = [each for each in found if each.dist and each.dist.name == "schedmate"]
        try:
            if ours and len(found) > 1:
                others = ", ".join(each.dist.name for each in found if each.dist and each not in ours)
                _log_refusal(
                    group, name, f"expected another name of the {what} {name} of {others}: one that ships has it"
                )
            made.append(create(name, ours[0].load() if ours else load_plugin(group, name, what)))
        except SettingsError:
            raise
        except Exception as error:  # code of another distribution
            if ours:
                raise
            _log_refusal(group, name, str(error) if isinstance(error, UserError) else repr(error))
    return made


def plugins_named(name: str) -> list[Any]:
    """Return the scheduler, stage and channel of a name, which share the settings section `[name]`. Raises `PluginError`."""
    groups = ((SCHEDULERS, "scheduler"), (STAGES, "stage"), (CHANNELS, "channel"))
    return [load_plugin(group, name, what) for group, what in groups if name in installed(group)]


def _log_refusal(group: str, name: str, error: str) -> None:
    log.error("plugin_refused", group=group, plugin=name, error=error, then="the others are used without it")


def check_plugin(name: str, found: Any, base: type, what: str) -> None:
    """Raise `PluginError` unless a plugin is a subclass of `base`, has the name of its entry point, and no section of another."""
    if not (isinstance(found, type) and issubclass(found, base)):
        raise PluginError(f"expected a subclass of {base.__name__} as the {what} {name}, got {found!r}")
    if getattr(found, "name", "") != name or not re.fullmatch(r"[a-z][a-z0-9_]{0,31}", name):
        raise PluginError(f"expected the {what} {name} to have that name, got {getattr(found, 'name', '')!r}")
    section = Settings.model_fields.get(name)
    if section and section.annotation is not found.settings:  # type: ignore[attr-defined]  # the bases have it
        raise PluginError(f"expected another name of the {what} {name}: the settings have a section [{name}]")
