"""The installed schedulers, and their settings."""

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from pydantic import BaseModel

from scheduler_bridge.schedulers import Actuator
from scheduler_bridge.schedulers.scheduler import Scheduler, SchedulerSettings

from ..settings.settings import LanguageModelSection, Loaded, Settings, SettingsError
from .loading import check_plugin
from .plugins import SCHEDULERS, PluginError, installed, load_plugin

if TYPE_CHECKING:
    from scheduler_bridge.schedulers.scheduler import Ask


def find_scheduler(name: str) -> Scheduler:
    """Return an installed scheduler. Raises `PluginError` where it is not installed or cannot be used."""
    found = load_plugin(SCHEDULERS, name, "scheduler")
    check_plugin(name, found, Scheduler, "scheduler")
    try:
        scheduler: Scheduler = found()
    except TypeError as error:  # an abstract method is missing
        raise PluginError(f"expected a complete scheduler {name}: {error}") from error
    return scheduler


def watchable_schedulers() -> list[str]:
    """Return the names of the schedulers that can be loaded and have a watcher."""
    names = []
    for name in installed(SCHEDULERS):
        with suppress(PluginError):
            if find_scheduler(name).is_watchable:
                names.append(name)
    return names


def chosen_scheduler(loaded: Loaded) -> Scheduler:
    """Return the scheduler of `bridge.scheduler`.

    Raises:
        PluginError: It is not installed, or cannot be used.
        SettingsError: The settings ask for commands that it does not run.
    """
    bridge = loaded.settings.bridge
    scheduler = find_scheduler(bridge.scheduler)
    wanted = [f"bridge.{name}" for name in ("node_check", "stack_command") if getattr(bridge, name)]
    if wanted and not scheduler.runs_commands:
        raise SettingsError(f"expected no {' and no '.join(wanted)} with {scheduler.title}, which runs no commands")
    return scheduler


def section_of(loaded: Loaded, scheduler: Scheduler) -> BaseModel:
    """Return the settings section of a scheduler. Raises `SettingsError` where a value is refused."""
    if scheduler.name in Settings.model_fields:
        section: BaseModel = getattr(loaded.settings, scheduler.name)
        return section
    return loaded.plugins.read(scheduler.name, scheduler.settings)


def settings_of(loaded: Loaded, scheduler: Scheduler) -> SchedulerSettings:
    """Return the settings that concern a scheduler. Raises `SettingsError` where a value of its section is refused."""
    settings = loaded.settings
    model = partial(_language_model, settings.language_model)
    return SchedulerSettings(section_of(loaded, scheduler), settings.bridge, settings.producer, model)


def actuator(loaded: Loaded) -> Actuator:
    """Return the actuator of the scheduler of `bridge.scheduler`. Raises `UserError` where the settings do not allow it."""
    scheduler = chosen_scheduler(loaded)
    return scheduler.actuator(settings_of(loaded, scheduler))


def _language_model(settings: LanguageModelSection) -> "Ask | None":
    from ..models.language_models import ask_or_none, language_model  # noqa: PLC0415  # loads the clients of model servers

    model = language_model(settings)
    return None if model is None else ask_or_none(model)
