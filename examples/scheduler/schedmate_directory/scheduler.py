"""The description of the scheduler, which the entry point names."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from scheduler_bridge.schedulers import Actuator
from scheduler_bridge.schedulers.job_watcher import JobWatcher
from scheduler_bridge.schedulers.scheduler import Scheduler, SchedulerSettings
from streams.transport import Producer


class DirectorySettings(BaseModel, frozen=True, extra="forbid"):
    """The section `[directory]` of the settings."""

    path: Path = Field(Path("jobs"), description="Directory with a file for each job.")


class DirectoryScheduler(Scheduler):
    """Jobs as files in a directory."""

    name = "directory"
    title = "Directory"
    settings = DirectorySettings

    def actuator(self, settings: SchedulerSettings) -> Actuator:
        """Return the actuator of the directory."""
        from .actuator import DirectoryActuator

        return DirectoryActuator(settings.section.path)

    def watcher(
        self, settings: SchedulerSettings, connect: Callable[[], Producer], checkpoint: Path | None, options: Any
    ) -> JobWatcher[Any]:
        """Watch the files of jobs, and ship what changes: started, requeued, ended.

        Example: `schedmate --set directory.path=/srv/jobs watch-scheduler directory`
        """
        from .watcher import DirectoryWatcher

        file = checkpoint or settings.producer.directory / "directory-events.json"
        return DirectoryWatcher(connect, file, settings.section.path)
