"""The tasks of an array that waits as a whole: Slurm lists them as one job, until each starts or is changed by itself."""

import re
from collections.abc import Iterator
from itertools import islice


def next_tasks(array: str, running: int, most: int) -> list[str]:
    """Return the ids of the tasks of an array that may start next, in Slurm's order: `4711_1`, `4711_3`.

    Args:
        array: As Slurm lists it, `4711_1-9:2,12%3`: the tasks that wait, and how many may run at once. A long list ends with `...`.
        running: How many of its tasks run.
        most: Return no more than these.
    """
    name, _, listed = array.partition("_")
    tasks, _, at_once = listed.partition("%")
    room = int(at_once) - running if at_once.isdecimal() else most
    return [f"{name}_{task}" for task in islice(_numbers(tasks), max(0, min(room, most)))]


def _numbers(tasks: str) -> Iterator[int]:
    for part in tasks.split(","):
        # `7`, `1-9` or `1-9:2`.
        if found := re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9})(?::([0-9]{1,9}))?)?", part, flags=re.ASCII):
            first, last, step = found.groups()
            yield from range(int(first), int(last or first) + 1, int(step or 1) or 1)
