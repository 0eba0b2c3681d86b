"""Reason, act, observe (Yao et al., *ReAct*, 2023): a bounded number of steps, then what was found and borne out."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from schedmate_records import Workload

from ...prompts import Prompt
from ...prompts.quoting import harmless
from .claims import FIELDS, Claim, checked
from .prompt import prompt
from .tools import SourceTools

STEPS = 10
"""Questions at most, the answer included."""

Ask = Callable[[Prompt], Mapping[str, Any] | None]
"""Returns an answer inside the prompt's schema; None where there is none to be had."""


class Filled(msgspec.Struct, frozen=True):
    """A workload, and the lines that the fields rest on which the model filled."""

    workload: Workload
    claims: tuple[Claim, ...] = ()
    steps: int = 0
    """Questions that were asked."""


def fill(workload: Workload, tools: SourceTools, command: str, ask: Ask, job: str = "") -> Filled:
    """Return `workload` with those of its open fields filled that the model found and a line bears out; nothing else changes.

    Args:
        workload: What the extractor found.
        tools: What is done with the source tree.
        command: The line that was submitted.
        ask: Asks the model.
        job: Whose budget pays.
    """
    wanted = [name for name in FIELDS if getattr(workload, name) is None]
    if not wanted:
        return Filled(workload)
    done = set[tuple[str, str, int]]()
    seen = [_shown("file_tree .", tools.file_tree("."))]
    for step in range(1, STEPS + 1):
        answer = ask(prompt(wanted, command, seen, last=step == STEPS, job=job))
        if answer is None:
            return Filled(workload, steps=step)
        if answer["action"] == "answer":
            found = [checked(each, frozenset(wanted), tools.line) for each in answer["claims"]]
            return _taken(workload, [each for each in found if each], step)
        act = (answer["action"], answer["path"], answer["line"])
        seen.append(_shown(f"{act[0]} {harmless(act[1])}", "you have seen that" if act in done else _act(tools, *act)))
        done.add(act)
    return Filled(workload, steps=STEPS)


def _act(tools: SourceTools, action: str, path: str, line: int) -> str:
    return tools.file_tree(path) if action == "file_tree" else tools.file_read(path, line)


def _shown(act: str, came: str) -> str:
    return f"{act}\n{came}"


def _taken(workload: Workload, claims: list[Claim], steps: int) -> Filled:
    """Two claims that contradict each other are both dropped; a length without its unit, or a unit without a length, says nothing."""
    by_field: dict[str, list[Claim]] = {}
    for each in claims:
        by_field.setdefault(each.field, []).append(each)
    agreed = {field: each[0] for field, each in by_field.items() if len({one.value for one in each}) == 1}
    known = {*agreed, *(name for name in ("iters", "iter_type") if getattr(workload, name) is not None)}
    if not {"iters", "iter_type"} <= known:
        agreed = {field: each for field, each in agreed.items() if field not in ("iters", "iter_type")}
    filled = msgspec.structs.replace(workload, **{field: each.value for field, each in agreed.items()})
    return Filled(filled, tuple(agreed.values()), steps)
