"""Owners of jobs in several Slurm clusters. Each is queried separately, so that none waits for another."""

from collections.abc import Iterable

from schedmate_records.cluster_names import LOCAL
from streams.producers.job_owners import JobOwners

from .client import SlurmClient, SlurmCommands, SlurmRefused
from .client.cluster_names import split


class SlurmOwners:
    """Owners of the jobs of the local cluster (`4711`) and of others (`beta/4711`).

    Args:
        clusters: Names of the others.
    """

    def __init__(self, clusters: Iterable[str] = ()) -> None:
        names = (LOCAL, *clusters)
        self._owners: dict[str, JobOwners[int]] = {
            name: JobOwners(SlurmClient(SlurmCommands(cluster=name)).owners) for name in names
        }

    def owner_of(self, job: str) -> int | str | None:
        """Return the user id of the owner of `job`, or why none is known; None while it is being asked for the first time."""
        try:
            cluster, own = split(job)
        except SlurmRefused as error:
            return str(error)
        owners = self._owners.get(cluster)
        return f"{cluster} is not in slurm.clusters" if owners is None else owners.answer_for(own)

    def close(self) -> None:
        """Ask no more."""
        for owners in self._owners.values():
            owners.close()
