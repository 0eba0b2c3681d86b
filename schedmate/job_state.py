"""The state of an attempt of a job: a word, a reason, and since when. All screens, commands and messages use it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

from schedmate_records import AlarmKind

from .times import short_span

if TYPE_CHECKING:
    from sinks.redis.status import JobStatus

Phase = Literal["unknown", "queued", "running", "ended"]
"""Last phase that schedulers and pipes reported of an attempt; `unknown` if neither reported it."""


class StateWord(StrEnum):
    """The state of an attempt."""

    QUEUED = "queued"
    RUNNING = "running"
    SILENT = "silent"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIME_LIMIT = "time limit"
    OUT_OF_MEMORY = "out of memory"
    NODE_FAILURE = "node failure"
    PREEMPTED = "preempted"
    REQUEUED = "requeued"
    OUTCOME_UNKNOWN = "ended, outcome unknown"

    @property
    def is_failure(self) -> bool:
        """Whether the attempt failed. What a person or the scheduler ended on purpose did not."""
        return self in _FAILURES

    @property
    def is_live(self) -> bool:
        """Whether the attempt waits or runs."""
        return self in _LIVE


_LIVE = frozenset({StateWord.QUEUED, StateWord.RUNNING, StateWord.SILENT})
_FAILURES = frozenset({StateWord.FAILED, StateWord.TIME_LIMIT, StateWord.OUT_OF_MEMORY, StateWord.NODE_FAILURE})
_BY_SCHEDULER: Mapping[str, StateWord] = {
    "CANCELLED": StateWord.CANCELLED,
    "REVOKED": StateWord.CANCELLED,
    "TIMEOUT": StateWord.TIME_LIMIT,
    "DEADLINE": StateWord.TIME_LIMIT,
    "OUT_OF_MEMORY": StateWord.OUT_OF_MEMORY,
    "NODE_FAIL": StateWord.NODE_FAILURE,
    "BOOT_FAIL": StateWord.NODE_FAILURE,
    "PREEMPTED": StateWord.PREEMPTED,
}
"""States of schedulers that decide the word."""
_UNEXPLAINED: Mapping[str, StateWord] = {
    "COMPLETED": StateWord.COMPLETED,
    "SUCCEEDED": StateWord.COMPLETED,
    "REQUEUED": StateWord.REQUEUED,
}
"""States of schedulers that decide the word where no cause, exit code or signal does."""
_BY_CAUSE: Mapping[str, StateWord] = {
    **dict.fromkeys(("time_limit", "timeout", "ci_time_limit"), StateWord.TIME_LIMIT),
    **dict.fromkeys(("oom_killer", "cgroup_oom", "systemd_oom", "out_of_memory"), StateWord.OUT_OF_MEMORY),
    **dict.fromkeys(("preempted", "evicted"), StateWord.PREEMPTED),
    "node_fail": StateWord.NODE_FAILURE,
}
"""Causes that state how the attempt ended, where the scheduler does not."""


class StateAlarm(NamedTuple):
    """An alarm of an attempt. Times in seconds since 1970; `over` is None while the alarm is raised."""

    kind: str
    detail: str
    since: float
    over: float | None = None

    def describes(self, ended: float | None) -> bool:
        """Return whether the alarm describes an attempt: one that runs (`ended` is None), or one that ended while it was raised."""
        if ended is None:
            return self.over is None
        return AlarmKind(self.kind).describes_ended and (self.over is None or self.over >= ended)


@dataclass(frozen=True, slots=True)
class JobState:
    """The state of an attempt.

    Attributes:
        word: The state.
        reason: Cause, exit code or alarm, in few words; empty where the word is all that is known.
        since: When the attempt came into the state, in seconds since 1970; None where not known.
        expressed: Kinds of the alarms that word and reason express.
    """

    word: StateWord
    reason: str = ""
    since: float | None = None
    expressed: tuple[str, ...] = field(default=(), compare=False)

    def sentence(self, now: float) -> str:
        """Return the state in one line: `failed (exit code 1)`, `completed, loss NaN since step 125`, `silent for 21 min`."""
        if self.word is StateWord.SILENT and self.since is not None:
            return _joined(f"{self.word} for {short_span(now - self.since)}", self.reason)
        if self.word.is_failure and self.reason:
            return f"{self.word} ({self.reason})"
        return _joined(self.word, self.reason)


def job_state(
    phase: Phase,
    *,
    started: float | None = None,
    ended: float | None = None,
    changed: float | None = None,
    scheduler_state: str = "",
    exit_code: int | None = None,
    signal: int | None = None,
    cause: str = "",
    alarms: Iterable[StateAlarm] = (),
    now: float,
) -> JobState:
    """Return the state of an attempt. Times are in seconds since 1970.

    Args:
        phase: What schedulers and pipes reported last.
        started: Its start.
        ended: Its end.
        changed: Time of the newest event, or of the newest progress where there is no event.
        scheduler_state: The scheduler's word for the end; REQUEUED where the attempt has none and another one followed.
        exit_code: Exit code.
        signal: The signal that ended it; None or 0 for none.
        cause: Cause of the verdict in force on the attempt, or its error type; empty for none.
        alarms: Its alarms.
        now: The present.
    """
    if phase == "queued":
        return JobState(StateWord.QUEUED, since=changed)
    # A job that no scheduler or pipe reports has ended after an hour without progress: its pipe may have been killed.
    if phase == "unknown" and (changed is None or now - changed > 3600.0):
        return JobState(StateWord.OUTCOME_UNKNOWN, since=changed)
    described = [each for each in alarms if each.describes(ended if phase == "ended" else None)]
    if phase == "ended":
        word = _end_word(scheduler_state, exit_code, signal, cause)
        reason = "" if word is StateWord.CANCELLED else _reason(word, exit_code, signal, cause)
        return JobState(word, reason, ended) if reason else _with_alarm(word, ended, described)
    hang = next((each for each in described if each.kind == AlarmKind.HANG), None)
    if hang:
        others = [each for each in described if each is not hang]
        return _with_alarm(StateWord.SILENT, hang.since, others, (hang.kind,))
    return _with_alarm(StateWord.RUNNING, started, described)


def _with_alarm(
    word: StateWord, since: float | None, alarms: Iterable[StateAlarm], expressed: tuple[str, ...] = ()
) -> JobState:
    """Return the state with the most important of `alarms` as its reason: a loss that is no number, then the first that was raised."""
    ordered = sorted(alarms, key=lambda each: (each.kind != AlarmKind.LOSS_NOT_FINITE, each.since))
    if not ordered:
        return JobState(word, "", since, expressed)
    return JobState(word, _clause(ordered[0].detail), since, (*expressed, ordered[0].kind))


def _end_word(scheduler_state: str, exit_code: int | None, signal: int | None, cause: str) -> StateWord:
    reported = scheduler_state.upper().split(" ")[0].rstrip("+")
    if reported in _BY_SCHEDULER:
        return _BY_SCHEDULER[reported]
    if cause in _BY_CAUSE:
        return _BY_CAUSE[cause]
    # These causes show a person's decision, where no scheduler states how the attempt ended.
    if cause in {"cancelled_by", "cancelled", "keyboard_interrupt", "sigint", "ci_job_cancelled"} and not reported:
        return StateWord.CANCELLED
    if cause or exit_code or signal or reported == "FAILED":
        return StateWord.FAILED
    return StateWord.COMPLETED if exit_code == 0 else _UNEXPLAINED.get(reported, StateWord.OUTCOME_UNKNOWN)


def _reason(word: StateWord, exit_code: int | None, signal: int | None, cause: str) -> str:
    if cause and _BY_CAUSE.get(cause) is not word and cause.replace("_", " ") != word and not _is_empty(cause):
        return cause.replace("_", " ")
    if word is StateWord.FAILED:
        return f"signal {signal}" if signal else f"exit code {exit_code}" if exit_code else ""
    return ""


def _is_empty(cause: str) -> bool:
    """Return whether a cause repeats how the attempt ended, or names nothing."""
    return cause.startswith(("exit_", "sig")) or cause in {"ended", "failed", "unknown", "other"}


def _clause(detail: str) -> str:
    """Return the detail of an alarm as it continues a sentence."""
    first = detail.split(" ", 1)[0]
    return f"{first.lower()}{detail[len(first) :]}" if first.istitle() else detail


def state_of_status(status: "JobStatus", now: float) -> JobState:
    """Return the state of the newest attempt of a job that Redis holds."""
    phases: Mapping[str, Phase] = {"submitted": "queued", "requeued": "queued", "running": "running", "ended": "ended"}
    judged = status.verdict_attempt == status.attempt
    return job_state(
        phases.get(status.state, "unknown"),
        started=status.started,
        ended=status.ended,
        changed=status.metric_time if status.state_time is None else status.state_time,
        scheduler_state=status.scheduler_state,
        exit_code=status.exit_code,
        signal=status.signal,
        cause=(status.verdict_signature or status.verdict) if judged else "",
        alarms=[
            StateAlarm(kind, detail, status.alarms_since.get(kind, 0.0), status.ended)
            for kind, detail in status.alarms.items()
        ],
        now=now,
    )


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
