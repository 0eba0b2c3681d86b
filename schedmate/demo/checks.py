"""The checks of the demo, each a function that returns whether it passed."""

from collections.abc import Callable
from dataclasses import dataclass

from schedmate_records import Action, Decision, ErrorType, EventKind, Outcome

from .facts import DemoFacts
from .programs import BUGGY, FAULTY, HEALTHY, KILLED, NEIGHBOUR, SAVER, URGENT, VICTIM, Program


@dataclass(frozen=True)
class Check:
    """One promise: whether it was kept, and what was seen."""

    promise: str
    kept: bool
    seen: str


def check(facts: DemoFacts) -> list[Check]:
    """Hold the promises against the facts."""
    return [Check(promise, *test(facts)) for promise, test in _PROMISES]


def _slowed(facts: DemoFacts) -> tuple[bool, str]:
    found = [each for each in facts.board.slowdowns if each.job == VICTIM.name and each.packed_job == NEIGHBOUR.name]
    if not found:
        return False, "no slowdown was found"
    one = found[0]
    return len(found) == 1, f"at {one.ratio:.0%} of its speed; the limit is {one.threshold:.0%}"


def _separated(facts: DemoFacts) -> tuple[bool, str]:
    line = facts.job(NEIGHBOUR)
    packings = [event for event in line.events_of(EventKind.PACKED) if event.newcomer]
    done = _done(facts, NEIGHBOUR, Action.CANCEL_PACKING)
    return (
        done and len(packings) == 1 and line.state == "completed" and line.attempt == 1,
        f"packed {len(packings)} time(s); then alone, {line.state}",
    )


def _recovered(facts: DemoFacts) -> tuple[bool, str]:
    found = next((each for each in facts.board.recoveries if each.job == VICTIM.name), None)
    if found is None or found.recovered is None:
        return False, "no step time after a packing"
    kept = found.recovered >= found.threshold and facts.job(VICTIM).state == "completed"
    return kept, f"at {found.recovered:.0%} of its speed after they were separated"


def _restarted(facts: DemoFacts) -> tuple[bool, str]:
    line = facts.job(FAULTY)
    verdict, slots = line.verdict(0), line.slots()
    blamed = verdict is not None and verdict.error_type is ErrorType.INFRASTRUCTURE and verdict.root is not None
    moved = slots.get(0) is not None and slots.get(1) not in (None, slots.get(0))
    where = f"{slots.get(0)}, then {slots.get(1)}: {line.state}"
    kept = blamed and moved and _done(facts, FAULTY, Action.RESTART) and line.attempt == 1 and line.state == "completed"
    return kept, where


def _drained(facts: DemoFacts) -> tuple[bool, str]:
    drains = [each for each in facts.board.decisions.values() if each.action is Action.DRAIN]
    if len(drains) != 1:
        return False, f"{len(drains)} decisions to drain a node"
    decision, result = drains[0], facts.board.outcome(drains[0])
    asked = any(each.outcome is Outcome.AWAITING_APPROVAL for each in facts.board.results[decision.id])
    kept = decision.node_evidence and asked and result is not None and result.outcome is Outcome.DONE
    kept = kept and decision.node == facts.job(FAULTY).slots().get(0)
    return kept, f"{decision.node}: {result.outcome if result else 'waits'}"


def _made_room(facts: DemoFacts) -> tuple[bool, str]:
    saver, urgent = facts.job(SAVER), facts.job(URGENT)
    place = urgent.slots().get(0)
    kept = _done(facts, SAVER, Action.EVICT) and place == saver.slots().get(0) is not None and _untouched(facts, URGENT)
    return kept and urgent.state == "completed", f"{place}: {urgent.state}"


def _went_on(facts: DemoFacts) -> tuple[bool, str]:
    line, about = facts.job(SAVER), _about(facts, SAVER)
    steps = [metric.since_step for metric in line.metrics.get((1, 0), []) if metric.since_step is not None]
    path = about[0].checkpoint if about else ""
    if not steps or path not in [saved.path for saved in facts.board.saved.get(SAVER.name, [])]:
        return False, f"{line.state}; no step after the restart"
    saved = int(path.rpartition("step")[2].removesuffix(".pt"))
    kept = steps[0] > saved and line.state == "completed"
    return kept, f"saved at step {saved}, resumed at step {steps[0]}: {line.state}"


def _left_alone(facts: DemoFacts) -> tuple[bool, str]:
    line = facts.job(BUGGY)
    verdict = line.verdict(0)
    if verdict is None or verdict.root is None:
        return False, "no line was named"
    kept = verdict.error_type is ErrorType.USER_SCRIPT and _untouched(facts, BUGGY) and line.state == "failed"
    return kept, f"line {verdict.root.line}: {verdict.root.text.strip()}"


def _killed(facts: DemoFacts) -> tuple[bool, str]:
    line = facts.job(KILLED)
    ends, verdict = line.events_of(EventKind.ENDED), line.verdict(0)
    if not ends or verdict is None:
        return False, f"{line.state}, no verdict"
    kept = ends[-1].signal == 9 and verdict.root is None and _untouched(facts, KILLED)
    return kept, f"signal {ends[-1].signal}, verdict: {verdict.error_type}, {'a' if verdict.root else 'no'} line"


def _healthy(facts: DemoFacts) -> tuple[bool, str]:
    line = facts.job(HEALTHY)
    return line.state == "completed" and not line.verdicts() and _untouched(facts, HEALTHY), line.state


def _gpus(facts: DemoFacts) -> tuple[bool, str]:
    return facts.board.gpu_samples > 0, f"{facts.board.gpu_samples} samples from {facts.gpus.partition(':')[0]}"


def _complete(facts: DemoFacts) -> tuple[bool, str]:
    seen = f"{facts.pieces_shipped:,} lines printed, {facts.pieces_read:,} read, {len(facts.board.dead)} dead letters"
    whole = facts.pieces_shipped == facts.pieces_read > 0 and not facts.board.dead
    return whole, seen


def _stored(facts: DemoFacts) -> tuple[bool, str]:
    wrong = [
        f"{topic}: {count} records, {facts.stored.get(topic, 0)} rows"
        for topic, count in facts.written.items()
        if facts.stored.get(topic, 0) != count
    ]
    rows = sum(facts.stored.values())
    return not wrong and rows > 0, "; ".join(wrong) or f"{rows:,} rows"


def _done(facts: DemoFacts, program: Program, action: Action) -> bool:
    """True where exactly one decision was made about a job, for this action, and carried out."""
    about = _about(facts, program)
    if [decision.action for decision in about] != [action]:
        return False
    result = facts.board.outcome(about[0])
    return result is not None and result.outcome is Outcome.DONE


def _untouched(facts: DemoFacts, program: Program) -> bool:
    return not _about(facts, program) and facts.job(program).attempt == 0


def _about(facts: DemoFacts, program: Program) -> list[Decision]:
    about = (decision for decision in facts.board.decisions.values() if decision.job == program.name)
    return [decision for decision in about if not decision.action.on_node]


_PROMISES: tuple[tuple[str, Callable[[DemoFacts], tuple[bool, str]]], ...] = (
    (f"A packed neighbour slows {VICTIM.name}; the slowdown is detected", _slowed),
    ("The jobs are separated; the second job reruns alone", _separated),
    (f"{VICTIM.name} recovers", _recovered),
    (f"{FAULTY.name} loses its GPU, is restarted elsewhere and completes", _restarted),
    ("The node's kernel log confirms it; after approval it is drained", _drained),
    (f"{SAVER.name} is evicted for {URGENT.name}", _made_room),
    (f"{SAVER.name} resumes from its checkpoint", _went_on),
    (f"{BUGGY.name} has a bug: line named, no restart", _left_alone),
    (f"{KILLED.name} is killed: no line named, no restart", _killed),
    (f"no action is taken on job {HEALTHY.name}", _healthy),
    ("GPU samples arrive", _gpus),
    ("No printed line is lost", _complete),
    ("ClickHouse holds every record exactly once", _stored),
)
