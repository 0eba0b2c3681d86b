"""Keeps the scripts of jobs while Slurm has them."""

from collections.abc import Mapping

import structlog

from streams.resilience import Outage

from ..client import ENDED, SlurmClient, SlurmError, SlurmJob, SlurmUnavailable
from ..client.kept_jobs import KeptJob, KeptJobs

log = structlog.get_logger(__name__)

ASKED = 50
"""Jobs that are asked about in one look, two commands each: many that start at once must not keep the watcher from looking."""


class Keeper:
    """Keeps each batch job from its start on, and how it ended. Heterogeneous jobs and those without a script are left out.

    Args:
        client: Slurm; its user must be an operator to read the scripts of others.
    """

    def __init__(self, client: SlurmClient, kept: KeptJobs) -> None:
        self._client = client
        self._kept = kept
        self._seen: dict[str, tuple[int, bool]] = {}
        self._disk = Outage(
            "directory of kept jobs", consequence="jobs that start now are kept when it can be written again"
        )

    def look(self, jobs: Mapping[str, SlurmJob]) -> None:
        """Keep what is new among Slurm's jobs. What Slurm does not answer now is asked for at the next look."""
        self._seen = {name: seen for name, seen in self._seen.items() if name in jobs}
        asked = 0
        for name, job in jobs.items():
            now = (job.restarts, job.state in ENDED)
            if job.parts or not job.started or self._seen.get(name) == now:
                continue
            if asked == ASKED:
                return
            asked += 1
            try:
                self._keep(name, job)
            except SlurmUnavailable:
                return
            except SlurmError as error:
                log.info("job_not_kept", job=name, error=str(error))
            except OSError as error:
                self._disk.failed(error)
                return
            self._seen[name] = now
            self._disk.succeeded()

    def _keep(self, name: str, job: SlurmJob) -> None:
        known = self._kept.get(name)
        if known and (known.job.user, known.job.command) == (job.user, job.command):
            kept = KeptJob(job=job, script=known.script, columns=known.columns, successor=known.successor)
        else:
            kept = KeptJob(job=job, script=self._client.batch_script(name), columns=self._client.columns(name))
        self._kept.put(kept)
