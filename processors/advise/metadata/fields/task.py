"""Task of a training: votes of its data, its model, its libraries and its words."""

from collections import Counter

from ..program.trace import Trace
from ..program.values import Class, Term
from ..registry import known_name, task_of_import, tasks_in
from .settings import Settings

LEAST, LEAST_ALONE = 2.0, 1.5
"""Votes that an answer needs, with and without votes for another task. All weights are tuned on the trees of the tests."""


def is_reinforcement(trace: Trace) -> bool:
    """Return whether a program acts in an environment."""
    called = [each.name for each in trace.calls if isinstance(each.called, Term)]
    tuners = ("GRPOTrainer", "PPOTrainer", "RLOOTrainer")
    return any(task_of_import(name) == "reinforcement-learning" or name.endswith(tuners) for name in called)


def task_type(trace: Trace, model: str | None, train: str | None, settings: Settings, text: str) -> str | None:
    """Return the task with most votes; null if they are few. `text` names the tree, the entry and the command."""
    if is_reinforcement(trace):
        return "reinforcement-learning"
    votes = Counter[str]()
    data, named = known_name("datasets", train or ""), known_name("models", model or "")
    votes.update({data.task: 2.0} if data else {})
    votes.update({named.task: 1.5 if known_name("backbones", named.name) else 3.5} if named else {})
    called = [each for each in trace.calls if isinstance(each.called, (Term, Class))]
    classes = {each.last for each in called if isinstance(each.called, Class)} - {model}
    special = (
        found for each in classes if (found := known_name("models", each)) and not known_name("backbones", found.name)
    )
    votes.update(dict.fromkeys((each.task for each in special), 3.5))
    used = {task_of_import(each.name) for each in called if isinstance(each.called, Term)}
    imported = {task_of_import(each) for each in trace.imports} - used
    votes.update({task: 2.0 if task in used else 1.5 for task in filter(None, used | imported)})
    stated = [str(each.value) for each in settings.texts("task") if each.group != "constants"]
    loaded = [each.name.split(".")[-2] for each in called if each.last == "from_pretrained" and "." in each.name]
    votes.update(dict.fromkeys(tasks_in([*stated, *loaded]), 3.0))
    seen = tasks_in(list(dict.fromkeys(each.last for each in called))[:600])
    votes.update({task: min(1.5 + 0.25 * count, 3.0) for task, count in seen.items()})
    votes.update({task: min(0.5 * count, 2.0) for task, count in tasks_in(text.splitlines()).items()})
    best = votes.most_common(1)
    return best[0][0] if best and best[0][1] >= (LEAST_ALONE if len(votes) == 1 else LEAST) else None
