"""What a job learns to do: votes of its data, its model, its libraries and its words."""

import posixpath
from collections import defaultdict

from .registry import known, task_of_import, tasks_in, words
from .steps import Training
from .trace import Trace
from .values import Class, Term

LEAST = 2.0
"""Votes that an answer needs."""


def is_reinforcement(trace: Trace) -> bool:
    """Whether a program acts in an environment."""
    names = [each.name for each in trace.calls if isinstance(each.called, Term)]
    entered = known("models", posixpath.splitext(posixpath.basename(trace.entry))[0])
    if entered is not None and entered.task == "reinforcement-learning" and not Training(trace).seen:
        return True
    if any(task_of_import(name) == "reinforcement-learning" for name in names):
        return True
    return any(name.endswith(("GRPOTrainer", "PPOTrainer", "RLOOTrainer", "ReinforceTrainer")) for name in names)


def task_type(trace: Trace, model: str | None, train: str | None, text: str) -> str | None:
    """Return the task with most votes; null where they are few.

    Args:
        trace: What the program did.
        model: The model's name.
        train: The data set's name.
        text: Further words: the tree's name, the command, the entry's documentation.
    """
    if is_reinforcement(trace):
        return "reinforcement-learning"
    votes: dict[str, float] = defaultdict(float)
    made = {each.last for each in trace.calls if isinstance(each.called, Class)} - {model}
    special = {found.task for each in made if (found := known("models", each)) and not known("backbones", found.name)}
    for kind, name, weight in (("datasets", train, 2.0), ("models", model, 3.5)):
        found = known(kind, name) if name else None
        if found is not None:
            shared = kind == "models" and known("backbones", found.name) is not None
            generates = found.task == "image-generation" and "image-classification" in votes
            votes[found.task] += (0.0 if special else 2.5 if generates else 1.5) if shared else weight
    parts = {word for each in made for word in words(each)}
    if {"generator", "discriminator"} <= parts and "image-classification" in votes:
        votes["image-generation"] += 3.0  # two networks against each other on pictures
    for each in sorted(special):
        votes[each] += 3.5
    imports = {task_of_import(each.name) for each in trace.calls if isinstance(each.called, Term)} - {None}
    for each in sorted(filter(None, imports)):
        votes[each] += 2.0
    names = list(dict.fromkeys(each.last for each in trace.calls if isinstance(each.called, (Term, Class))))
    for task, count in tasks_in(names[:600]).items():
        votes[task] += min(1.5 + 0.25 * count, 3.0)
    for task, count in tasks_in(text.splitlines()[:60]).items():
        votes[task] += min(0.5 * count, 2.0)
    best = max(votes, key=votes.__getitem__, default=None)
    return best if best is not None and votes[best] >= LEAST else None
