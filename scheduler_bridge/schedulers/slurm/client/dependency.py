"""What a waiting job waits for, as Slurm prints it: `afterok:11(failed),afterany:12(unfulfilled)`."""

import re

_TERM = re.compile(
    r"(?P<kind>[a-z]+)(?::(?P<job>[0-9_*]+))?(?P<delay>\+[0-9]+)?\((?P<state>unfulfilled|failed)\)", re.ASCII
)


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
