"""What a job learns to do: votes of its data, its model, its libraries and its words."""

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Sequence

from .registry import all_known, known, task_of_import, task_of_metric, tasks_in, words
from .steps import Training
from .trace import Trace
from .values import Class, Term

_LOADERS = {"from_pretrained", "from_config"}
_LEAST_LETTERS = 4
"""Letters of a method's name that counts beside that of a backbone: `BC` in `BCResNet` is none."""
_METRICS = {"evaluate.load", "datasets.load_metric", "evaluate.loading.load"}
_SHARED_DATA = {"COCO", "COCO2017"}
"""Data of detection, segmentation, captions and poses alike."""
LEAST = 2.0
"""Votes that an answer needs."""
LEAST_ALONE = 1.5
"""Votes that it needs where nothing speaks for another."""


def is_reinforcement(trace: Trace) -> bool:
    """Whether a program acts in an environment."""
    names = [each.name for each in trace.calls if isinstance(each.called, Term)]
    entered = known("models", posixpath.splitext(posixpath.basename(trace.entry))[0])
    if entered is not None and entered.task == "reinforcement-learning" and not Training(trace).seen:
        return True
    if any(task_of_import(name) == "reinforcement-learning" for name in names):
        return True
    return any(name.endswith(("GRPOTrainer", "PPOTrainer", "RLOOTrainer", "ReinforceTrainer")) for name in names)


def task_type(trace: Trace, model: str | None, train: str | None, stated: Sequence[str], text: str) -> str | None:
    """Return the task with most votes; null where they are few.

    Args:
        trace: What the program did.
        model: The model's name.
        train: The data set's name.
        stated: What settings call the task.
        text: Further words: the tree's name, the command, the entry's documentation.
    """
    if is_reinforcement(trace):
        return "reinforcement-learning"
    votes: dict[str, float] = defaultdict(float)
    for group in (_votes_of_names(trace, model, train), _votes_of_calls(trace), _votes_of_words(stated, text)):
        for task, count in group:
            votes[task] += count
    best = max(votes, key=votes.__getitem__, default=None)
    if best is None:
        return None
    alone = all(each == best or not count for each, count in votes.items())
    return best if votes[best] >= (LEAST_ALONE if alone else LEAST) else None


def _votes_of_names(trace: Trace, model: str | None, train: str | None) -> Iterator[tuple[str, float]]:
    """Yield what the names of the data, the model and the networks of the tree speak for."""
    made = {each.last for each in trace.calls if isinstance(each.called, Class)} - {model}
    special = {
        found.task
        for each in made
        if (found := known("models", each)) and not known("backbones", found.name) and _is_spelled(found.name, each)
    }
    data = known("datasets", train) if train else None
    pictures = data is not None and data.task == "image-classification"
    if data is not None:
        yield data.task, 1.0 if data.name in _SHARED_DATA else 2.0
    held = list(all_known("models", model)) if model else []  # `fasterrcnn_resnet50`: the method, not what it stands on
    methods = (each for each in held if len(each.name) >= _LEAST_LETTERS and known("backbones", each.name) is None)
    named = next(methods, held[0] if held else None)
    if named is not None and known("backbones", named.name) is None:
        yield named.task, 3.5
    elif named is not None:
        yield named.task, 0.0 if special else 2.5 if named.task == "image-generation" and pictures else 1.5
    parts = {word for each in made for word in words(each)}
    if {"generator", "discriminator"} <= parts and (pictures or (named and named.task == "image-classification")):
        yield "image-generation", 3.0  # two networks against each other on pictures
    yield from ((each, 3.5) for each in sorted(special))
    if data is not None and any((found := known("models", each)) and found.task == data.task for each in made):
        yield data.task, 2.0  # a network of the tree and its data are of one task


def _is_spelled(name: str, text: str) -> bool:
    """Whether a class may be of a model that is named by letters: `NODE` is no `Node`."""
    return name in text or not name.isupper()


def _votes_of_calls(trace: Trace) -> Iterator[tuple[str, float]]:
    """Yield what libraries, the packages of the tree, and the functions that are called speak for."""
    own = {part for file in trace.files for part in file.split("/")[:-1]}
    imports = {task_of_import(each.name) for each in trace.calls if isinstance(each.called, Term)}
    imports |= {task_of_import(each) for each in own}
    yield from ((each, 2.0) for each in sorted(filter(None, imports)))
    unused = {task_of_import(each) for each in trace.imports} - imports
    yield from ((each, 1.5) for each in sorted(filter(None, unused)))
    loaded = [each.name.split(".")[-2] for each in trace.calls if each.last in _LOADERS and "." in each.name]
    yield from ((task, 3.0) for task in tasks_in(loaded))
    metrics = (each.argument("path", "metric_name", place=0) for each in trace.calls if each.name in _METRICS)
    measured = {task_of_metric(each) for each in metrics if isinstance(each, str)}
    yield from ((each, 2.0) for each in sorted(filter(None, measured)))
    names = list(dict.fromkeys(each.last for each in trace.calls if isinstance(each.called, (Term, Class))))
    yield from ((task, min(1.5 + 0.25 * count, 3.0)) for task, count in tasks_in(names[:600]).items())


def _votes_of_words(stated: Sequence[str], text: str) -> Iterator[tuple[str, float]]:
    """Yield what settings and descriptions speak for."""
    yield from ((task, 3.0) for task in tasks_in(stated))
    yield from ((task, min(0.5 * count, 2.0)) for task, count in tasks_in(text.splitlines()[:60]).items())
