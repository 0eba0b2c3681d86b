"""The time limit of a job as a bound of its estimate."""

GRACE_S = 60.0
"""Seconds for which a job may outlive its limit: Slurm looks every 30 s, and waits 30 s before it kills (KillWait)."""


def within_limit(duration_s: float, time_limit_s: float) -> float:
    """Return a duration in seconds that is no longer than the scheduler lets the job run.

    Args:
        duration_s: An estimated duration, or a bound of it.
        time_limit_s: The limit; 0 for none.
    """
    return min(duration_s, time_limit_s + GRACE_S) if time_limit_s > 0 else duration_s
