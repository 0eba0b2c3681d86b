"""Jobs of the local Slurm cluster by the SLUID of their run, which names their control groups since 26.05."""

from streams.producers.job_owners import JobOwners

from .client import SlurmClient


class SlurmRuns:
    """Asks Slurm on a thread of its own, and remembers the answers."""

    def __init__(self, client: SlurmClient | None = None) -> None:
        names = (client or SlurmClient()).names
        # A name in a tuple is an answer, a bare text the reason why there is none.
        self._answers = JobOwners(lambda sluids: {sluid: (name,) for sluid, name in names(sluids).items()})

    def job(self, sluid: str) -> str | None:
        """Return the id of the job; None where it is not known, or not yet."""
        answer = self._answers.answer_for(sluid)
        return answer[0] if isinstance(answer, tuple) else None

    def close(self) -> None:
        """Ask no more."""
        self._answers.close()
