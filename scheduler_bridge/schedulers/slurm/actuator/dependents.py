"""Jobs that wait for the success of a job that is started again.

Slurm gave them up when it failed (`DependencyNeverSatisfied`), and does not take that back by itself.
"""

import re
from itertools import islice

import structlog

from ..client import SlurmClient, SlurmRefused

_TERM = re.compile(
    r"(?P<kind>[a-z]+)(?::(?P<job>[0-9_*]+))?(?P<delay>\+[0-9]+)?\((?P<state>unfulfilled|failed)\)", re.ASCII
)


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


def follow(dependency: str, job: str, successor: str) -> str:
    """Return the dependency of a job that waited for the success of `job`, which goes on as `successor`.

    Where `successor` is `job` itself, saying the same again makes Slurm look again: it has given up what failed once.

    Args:
        dependency: What `squeue` prints.
        job: The job that failed, or a task of an array.
        successor: The id of its next run; the same one where it was put back in the queue.

    Returns:
        What `scontrol update` takes; empty where there is nothing to change, or something else failed, too.
    """
    same, array = job == successor, job.partition("_")[0]
    targets = {job, f"{array}_*"} if same and "_" in job else {job}
    words, changed = [], False
    for word in re.split(r"([,?])", dependency):
        if word in (",", "?"):
            words.append(word)
            continue
        term = _TERM.fullmatch(word)
        if term is None:
            return ""
        ours = term["kind"] in {"afterok", "aftercorr"} and term["job"] in targets
        if term["state"] == "failed" and not ours:
            return ""
        # The failure of a job that stays over may not have reached those that wait for it yet.
        changed = changed or (ours and (not same or term["state"] == "failed"))
        renamed = f"{term['kind']}:{successor}" if ours and not same else word[: term.start("state") - 1]
        words.append(renamed)
    return "".join(words) if changed else ""
