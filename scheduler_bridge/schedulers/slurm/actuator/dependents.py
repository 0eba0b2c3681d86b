"""Jobs that wait for the success of a job that is started again.

Slurm gave them up when it failed (`DependencyNeverSatisfied`), and does not take that back by itself.
"""

from itertools import islice

import structlog

from ..client import SlurmClient, SlurmRefused
from ..client.dependency import follow

log = structlog.get_logger(__name__)


def carry_over(client: SlurmClient, job: str, successor: str) -> tuple[str, ...]:
    """Let those that waited for the success of a job wait for its next run, and return them as Slurm then shows them.

    What Slurm refuses is logged: it is not worth the restart.

    Args:
        client: Slurm.
        job: The job that failed.
        successor: The id of its next run; its own where it was put back in the queue.

    Raises:
        SlurmError: Slurm does not answer.
    """
    waiting = {name: text for name, old in client.dependencies().items() if (text := follow(old, job, successor))}
    # At most 100 dependents are changed for one restart: a user can submit any number of them.
    for name, text in islice(waiting.items(), 100):
        try:
            client.update_job(name, {"Dependency": text})
        except SlurmRefused as error:
            log.warning("dependent_not_changed", job=job, dependent=name, error=str(error))
    if not waiting:
        return ()
    after = client.dependencies()
    left = [name for name in waiting if follow(after.get(name, ""), job, successor)]
    if left:
        log.warning("dependents_left", job=job, dependents=left[:20], number=len(left))
    return tuple(name for name in waiting if name not in left)
