"""The description of a scheduler: one class for each, found through the entry points `schedmate.schedulers`.

This module and those that define a `Scheduler` are imported to list the schedulers, so they import clients only within methods.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from pydantic import BaseModel

from schedmate_records import UserError

from .base import Actuator

if TYPE_CHECKING:
    from processors.prompts import Prompt
    from streams.settings import ProducerSettings
    from streams.transport import Producer

    from ..settings import BridgeSettings
    from .job_watcher import JobWatcher

Ask = Callable[["Prompt"], Mapping[str, Any] | None]
"""Asks a language model; returns None where there is no answer."""


class NoSettings(BaseModel, frozen=True, extra="forbid"):
    """No settings, or no options."""


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """The settings of an operator that concern a scheduler.

    Attributes:
        section: The scheduler's own section, an instance of `Scheduler.settings`.
        bridge: The section `bridge`.
        producer: The section `producer`.
        language_model: Connects to the language model; returns None where none is configured.
    """

    section: Any
    bridge: "BridgeSettings"
    producer: "ProducerSettings"
    language_model: Callable[[], Ask | None] = lambda: None


class OwnerLookup(Protocol):
    """Finds the owners of jobs, without waiting for the scheduler."""

    def owner_of(self, job: str) -> int | str | None:
        """Return the user id of the owner, or the reason why it is not known; None while the scheduler is asked for the first time."""

    def close(self) -> None:
        """Stop asking."""


class Scheduler(ABC):
    """A scheduler that `bridge.scheduler` and `schedmate watch-scheduler` can name.

    Attributes:
        name: The name of the entry point, of the settings section and of the command: lower-case letters, digits and `_`.
        title: The name in messages, such as `Slurm`.
        settings: The model of the settings section `[name]`.
        options: The model of the options of `schedmate watch-scheduler NAME`; each field becomes an option with its description as help.
        runs_commands: Whether it runs the commands `bridge.node_check` and `bridge.stack_command`.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    settings: ClassVar[type[BaseModel]] = NoSettings
    options: ClassVar[type[BaseModel]] = NoSettings
    runs_commands: ClassVar[bool] = False

    @abstractmethod
    def actuator(self, settings: SchedulerSettings) -> Actuator:
        """Return an actuator that is connected to the scheduler. Raises `UserError` where the settings do not allow it."""

    def watcher(
        self, settings: SchedulerSettings, connect: "Callable[[], Producer]", checkpoint: Path | None, options: Any
    ) -> "JobWatcher[Any]":
        """Return a watcher that ships the scheduler's job events. The docstring of a subclass is the help of its command.

        Args:
            settings: The operator's.
            connect: Connects to the broker; called in another thread.
            checkpoint: The file of the watcher's state, where the operator names one.
            options: An instance of `options`.
        """
        raise UserError(f"expected a scheduler that can be watched, got {self.name}")

    @property
    def is_watchable(self) -> bool:
        """Whether the scheduler has a watcher."""
        return type(self).watcher is not Scheduler.watcher

    def owners(self, settings: SchedulerSettings) -> OwnerLookup | None:
        """Return a lookup of the owners of jobs; None where the scheduler has none, or cannot be asked on this host."""
        return None
