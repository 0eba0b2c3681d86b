"""Slurm as a `Scheduler`."""

import shutil
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from schedmate_records import UserError

from ..base import Actuator
from ..scheduler import OwnerLookup, Scheduler, SchedulerSettings
from .settings import SlurmSection

if TYPE_CHECKING:
    from streams.transport import Producer

    from .actuator import SlurmActuator
    from .events.model_reader import ModelReader
    from .events.watcher import SlurmWatcher


class SlurmWatchOptions(BaseModel, frozen=True):
    """Options of `schedmate watch-scheduler slurm`."""

    cluster: str = Field("", description="Watch this cluster, one of `slurm.clusters`; the local one by default.")


class SlurmScheduler(Scheduler):
    """Slurm, through its own commands: the local cluster and those of `slurm.clusters`."""

    name = "slurm"
    title = "Slurm"
    settings = SlurmSection
    options = SlurmWatchOptions
    runs_commands = True

    def actuator(self, settings: SchedulerSettings) -> Actuator:
        """Return the actuator of the local cluster, or one for all clusters where there are several."""
        section: SlurmSection = settings.section
        if not section.clusters:
            return _actuator(settings)
        from .actuator import SlurmClusters

        return SlurmClusters({name: _actuator(settings, name) for name in ("", *section.clusters)})

    def watcher(
        self,
        settings: SchedulerSettings,
        connect: "Callable[[], Producer]",
        checkpoint: Path | None,
        options: SlurmWatchOptions,
    ) -> "SlurmWatcher":
        """Watch Slurm's list of jobs, and ship what changes: submitted, described, started, packed, unpacked, requeued, ended.

        It needs Slurm's client commands and the right to see all jobs. Run one for each cluster. With `bridge.kept_jobs_directory` it
        keeps the jobs' scripts there, too. With `producer.read_sources` it reads the source tree of each submitted job and ships what the
        job trains; with `producer.ask_model` a language model looks for the rest, which is shipped once it is found.

        Examples: `schedmate watch-scheduler slurm --interval 2`, and for another cluster `schedmate watch-scheduler slurm --cluster beta`
        """
        from .client.kept_jobs import KeptJobs
        from .events.watcher import SlurmWatcher

        cluster, clusters = options.cluster, settings.section.clusters
        if cluster and cluster not in clusters:
            raise UserError(f"expected one of slurm.clusters ({', '.join(clusters)}), got --cluster {cluster}")
        producer, directory = settings.producer, settings.bridge.kept_jobs_directory
        if producer.read_sources:
            import_module("yaml")  # of the extra `advise`: without it the command ends here
        file = f"slurm-events-{cluster}.json" if cluster else "slurm-events.json"
        return SlurmWatcher(
            connect,
            checkpoint or producer.directory / file,
            kept=KeptJobs(directory / cluster) if directory else None,
            cluster=cluster,
            read_sources=producer.read_sources,
            model=_model_reader(settings) if producer.ask_model else None,
        )

    def owners(self, settings: SchedulerSettings) -> OwnerLookup | None:
        """Return the owners of the jobs of all clusters; None where Slurm's commands are not installed."""
        if shutil.which("squeue") is None:
            return None
        from .owners import SlurmOwners

        return SlurmOwners(settings.section.clusters)


def _model_reader(settings: SchedulerSettings) -> "ModelReader":
    from .events.model_reader import ModelReader

    ask = settings.language_model() if settings.producer.read_sources else None
    if ask is None:
        raise UserError("expected producer.read_sources and language_model.servers where producer.ask_model is true")
    return ModelReader(ask)


def _actuator(settings: SchedulerSettings, cluster: str = "") -> "SlurmActuator":
    """Return the actuator of one cluster; the local one where `cluster` is empty."""
    from .actuator import NodeChecks, Resubmission, SlurmActuator
    from .client import SlurmClient, SlurmCommands
    from .client.job_command import SlurmJobCommand
    from .client.kept_jobs import KeptJobs
    from .client.node_check import SlurmNodeCheck
    from .client.submission import submit

    bridge = settings.bridge
    client = SlurmClient(SlurmCommands(cluster=cluster))
    kept = KeptJobs(bridge.kept_jobs_directory / cluster) if bridge.kept_jobs_directory else None
    check = SlurmNodeCheck(bridge.node_check, bridge.node_check_options, bridge.node_check_seconds, cluster=cluster)
    stacks = SlurmJobCommand(bridge.stack_command, bridge.stack_seconds, cluster=cluster)
    return SlurmActuator(
        client,
        resubmission=Resubmission(client, kept, partial(submit, cluster=cluster)) if kept else None,
        checks=NodeChecks(client, check) if bridge.node_check else None,
        stacks=stacks if bridge.stack_command else None,
    )
