"""Faults that are planted in a copy of a run's output, to show that the checker would find them.

A checker that compares nothing reports that all holds. So each run first plants one lost row, one doubled row and one repeated action,
and ends with an error where the checker misses one of them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from benchmarks.chaos.checker import check
from benchmarks.chaos.faults import Window
from benchmarks.chaos.jobs import Job
from benchmarks.chaos.observed import Observed
from benchmarks.chaos.replay import Replayed


@dataclass(frozen=True)
class Planted:
    """A planted fault.

    Attributes:
        name: What was planted.
        problem: Beginning of the problem that the checker must report.
    """

    name: str
    problem: str


def plant(observed: Observed) -> tuple[Observed, list[Planted]]:
    """Return a copy of a run's output with three faults in it, and what they are.

    Raises:
        ValueError: The output holds nothing that could be lost, doubled or repeated.
    """
    once = [
        (table, each)
        for table, ids in sorted(observed.ids.items())
        if table != "decisions"
        for each, times in Counter(ids).items()
        if times == 1
    ]
    final = next(((decision, outcome) for decision, outcome in observed.results if outcome != "started"), None)
    if len(once) < 2 or final is None:
        raise ValueError(
            "expected two rows and a decision with its result in the run's output; let the run take longer"
        )
    (lost_in, lost), (doubled_in, doubled) = once[0], once[-1]
    ids = {**observed.ids, lost_in: [each for each in observed.ids[lost_in] if each != lost]}
    ids[doubled_in] = [*ids[doubled_in], doubled]
    return replace(observed, ids=ids, results=[*observed.results, final]), [
        Planted("a lost row", f"rows missing: {lost_in} {lost}"),
        Planted("a doubled row", f"rows doubled: {doubled_in} {doubled}"),
        Planted("a repeated action", f"wrong decisions: {final[0]} has the final results "),
    ]


def missed(
    jobs: Sequence[Job], observed: Observed, replayed: Replayed, windows: Sequence[Window], within_s: float
) -> Iterator[str]:
    """Yield each planted fault that the checker does not find."""
    try:
        copy, planted = plant(observed)
    except ValueError as error:
        yield f"the checker was not tried: {error}"
        return
    problems = check(jobs, copy, replayed, windows, within_s).problems
    for each in planted:
        if not any(problem.startswith(each.problem) for problem in problems):
            yield f"the checker missed {each.name} that was planted ({each.problem})"
