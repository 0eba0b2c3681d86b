"""Reason, act, observe (Yao et al., *ReAct*, 2023): a bounded number of steps, then the claims that their lines prove."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from schedmate_records import Workload

from ...prompts import Prompt
from ...prompts.quoting import harmless
from .claims import FIELDS, NUMBERS, Claim, checked, numbers_in
from .prompt import COMMAND, prompt
from .tools import SourceTools

STEPS = 10
"""Questions at most, the answer included."""

Ask = Callable[[Prompt], Mapping[str, Any] | None]
"""Returns an answer inside the prompt's schema; None where there is none to be had."""


class Filled(msgspec.Struct, frozen=True):
    """A workload, and the claims that filled its fields."""

    workload: Workload
    claims: tuple[Claim, ...] = ()
    steps: int = 0
    """Number of questions that were asked."""


def fill(workload: Workload, tools: SourceTools, command: str, ask: Ask, job: str = "") -> Filled:
    """Return `workload` with its open fields filled from claims of the model that a line of the tree or the command proves.

    Args:
        workload: Fields that are known; nothing of them changes.
        tools: Tools for the source tree.
        command: Command line of the job.
        ask: Asks the model.
        job: Job whose budget pays.
    """
    wanted = [name for name in FIELDS if getattr(workload, name) is None]
    if not wanted:
        return Filled(workload)
    done = set[tuple[str, str, int]]()
    seen = [_format_step("file_tree .", tools.file_tree("."))]

    def line_of(path: str, line: int) -> str | None:
        return command if path == COMMAND else tools.line(path, line)

    for step in range(1, STEPS + 1):
        answer = ask(prompt(wanted, command, seen, last=step == STEPS, job=job))
        if answer is None:
            return Filled(workload, steps=step)
        if answer["action"] == "answer":
            return _apply_claims(workload, _checked(answer["claims"], frozenset(wanted), line_of), step)
        act = (answer["action"], answer["path"], answer["line"])
        seen.append(
            _format_step(f"{act[0]} {harmless(act[1])}", "you have seen that" if act in done else _act(tools, *act))
        )
        done.add(act)
    return Filled(workload, steps=STEPS)


def _checked(
    claims: Sequence[Mapping[str, Any]], wanted: frozenset[str], line_of: Callable[[str, int], str | None]
) -> list[Claim]:
    """Return the claims that their lines prove. Evaluations on the training data need only the line that shows the evaluation."""
    proved = [each for each in claims if each["field"] == "dataset_train" and checked(each, wanted, line_of)]
    train = proved[0]["value"].strip() if proved else None
    return [found for each in claims if (found := checked(each, wanted, line_of, train)) is not None]


def combined(first: Workload, second: Workload, command: str) -> Workload:
    """Return `first`, completed by `second`. A length and its unit come from one of them.

    A number of `second` that the command states is kept, too: a word of the user precedes a default that the model read.
    """
    stated = numbers_in(command)
    values = {name: getattr(second, name) for name in FIELDS}
    kept = {name for name in NUMBERS if values[name] in stated}
    kept |= {name for name in FIELDS if getattr(first, name) is None}
    pair = {"iters", "iter_type"}
    whole = first.iters is not None and first.iter_type is not None
    if values["iters"] is not None and (not whole or values["iters"] in stated):
        kept |= pair
    elif first.iters is not None:
        kept -= pair
    return msgspec.structs.replace(first, **{name: values[name] for name in kept})


def _act(tools: SourceTools, action: str, path: str, line: int) -> str:
    return tools.file_tree(path) if action == "file_tree" else tools.file_read(path, line)


def _format_step(act: str, came: str) -> str:
    return f"{act}\n{came}"


def _apply_claims(workload: Workload, claims: list[Claim], steps: int) -> Filled:
    """Return the workload with the claims that hold together.

    Two claims that contradict each other are both dropped, and a length without its unit. A task counts only together with a proved name.
    """
    by_field: dict[str, list[Claim]] = {}
    for each in claims:
        by_field.setdefault(each.field, []).append(each)
    agreed = {field: each[0] for field, each in by_field.items() if len({one.value for one in each}) == 1}
    known = {*agreed, *(name for name in FIELDS if getattr(workload, name) is not None)}
    dropped = set() if {"iters", "iter_type"} <= known else {"iters", "iter_type"}
    dropped |= set() if known & {"model_name", "dataset_train"} else {"task_type"}
    agreed = {field: each for field, each in agreed.items() if field not in dropped}
    filled = msgspec.structs.replace(workload, **{field: each.value for field, each in agreed.items()})
    return Filled(filled, tuple(agreed.values()), steps)
