"""Errors of Slurm."""

from ...client_errors import SchedulerError, SchedulerUnavailable


def is_away(complaint: str) -> bool:
    """True where a command's complaint means that no daemon answers, and not that Slurm refuses."""
    if "known by database" in complaint:  # slurmdbd answers, and does not know the cluster
        return False
    # Slurm's commands print one of these while slurmctld does not answer, or slurmdbd, which locates other clusters.
    signs = (
        *("Unable to contact", "Socket timed out", "Connection refused", "Unable to establish"),
        *("Communication connection failure", "Zero Bytes were transmitted", "controller in standby mode"),
        *("can't be reached now", "problem talking to the database"),
    )
    return any(sign in complaint for sign in signs)


class SlurmError(SchedulerError):
    """Slurm did not do, or did not answer, what was asked; the text states what was expected, what came, and what to do."""


class SlurmUnavailable(SlurmError, SchedulerUnavailable):
    """The controller does not answer, or Slurm's commands are not installed: nothing is known."""


class UnknownSlurmJob(SlurmError):
    """Slurm does not know the job, or does not know it any more (MinJobAge)."""


class SlurmRefused(SlurmError):
    """Slurm answered, and refused."""


class InvalidSlurmJobId(SlurmRefused):
    """The text is no id of a Slurm job, so Slurm was not asked."""
