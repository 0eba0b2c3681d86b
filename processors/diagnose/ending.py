"""How an attempt ended, and what that alone says about why."""

import signal as signals
from typing import NamedTuple

from schedmate_records import Component, ErrorType, FailureSource, Position

from . import kinds
from .candidates import Candidate
from .exceptions import ExceptionMeaning


class Ending(NamedTuple):
    """The end of an attempt, from a job event, or of a stored file.

    Attributes:
        job: The job.
        attempt: Restart count.
        position: Where the event stands in the input (the end of the file).
        time: Seconds since 1970.
        exit_code: Null where not known, as for a stored file.
        signal: Signal that ended it; null or 0 for none.
        state: The scheduler's own word; empty where not known.
        nodes: Hosts of the job.
    """

    job: str
    attempt: int
    position: Position
    time: float
    exit_code: int | None = None
    signal: int | None = None
    state: str = ""
    nodes: list[str] = []

    @property
    def killed_by(self) -> int:
        """The signal, also where a shell turned it into an exit code of 128 and more; 0 for none."""
        if self.signal:
            return self.signal
        code = self.exit_code or 0
        if code < 0:
            return -code
        return code - 128 if 128 < code <= 128 + 64 else 0

    @property
    def well(self) -> bool:
        """True where the attempt is known to have ended well."""
        return self.exit_code == 0 and not self.signal and self.word in {"", "COMPLETED", "SUCCEEDED"}

    @property
    def cancelled(self) -> bool:
        """True where the scheduler reports that a person cancelled the attempt."""
        return self.word == "CANCELLED"

    @property
    def known(self) -> bool:
        """False where nothing is known of the ending: a stored file."""
        return self.exit_code is not None or bool(self.signal) or bool(self.word)

    @property
    def word(self) -> str:
        """The scheduler's word alone: `CANCELLED by 1000` is `CANCELLED`."""
        return self.state.upper().split(" ")[0].rstrip("+")


_OTHER, _UNKNOWN, _INFRA = ErrorType.OTHER, ErrorType.UNKNOWN, ErrorType.INFRASTRUCTURE
_NONE, _NODE = Component.NONE, Component.NODE

_BY_STATE: dict[str, tuple[ExceptionMeaning, str]] = {
    "TIMEOUT": (ExceptionMeaning(kinds.SCHEDULE, _OTHER, _NONE, None, 0.95), "the scheduler ended it at its time limit"),
    "DEADLINE": (ExceptionMeaning(kinds.SCHEDULE, _OTHER, _NONE, None, 0.95), "the scheduler ended it at its deadline"),
    "PREEMPTED": (ExceptionMeaning(kinds.SCHEDULE, _OTHER, _NONE, True, 0.95), "the scheduler preempted it"),
    "CANCELLED": (ExceptionMeaning(kinds.CANCEL, _OTHER, _NONE, True, 0.85), "it was cancelled"),
    "NODE_FAIL": (ExceptionMeaning(kinds.NODE, _INFRA, _NODE, True, 0.95), "one of its nodes failed"),
    "BOOT_FAIL": (ExceptionMeaning(kinds.NODE, _INFRA, _NODE, True, 0.95), "one of its nodes did not boot"),
    "OUT_OF_MEMORY": (ExceptionMeaning(kinds.NODE, _INFRA, _NODE, False, 0.9), "it passed its memory limit"),
}  # fmt: skip

_BY_SIGNAL: dict[int, tuple[ExceptionMeaning, str]] = {
    signals.SIGKILL: (
        ExceptionMeaning(kinds.KILL, _OTHER, _NONE, None, 0.4),
        "killed from outside: by a person, the scheduler or the kernel",
    ),
    signals.SIGTERM: (ExceptionMeaning(kinds.SIGNAL, _OTHER, _NONE, True, 0.6), "asked from outside to end"),
    signals.SIGHUP: (ExceptionMeaning(kinds.SIGNAL, _OTHER, _NONE, True, 0.6), "its terminal or session went away"),
    signals.SIGINT: (ExceptionMeaning(kinds.SCHEDULE, _OTHER, _NONE, True, 0.8), "interrupted by a person"),
    signals.SIGXCPU: (ExceptionMeaning(kinds.SCHEDULE, _OTHER, _NONE, None, 0.8), "it passed its limit of processor time"),
    signals.SIGBUS: (ExceptionMeaning(kinds.NATIVE, _INFRA, _NODE, True, 0.45), "a mapped page could not be had"),
}  # fmt: skip

_CRASH = frozenset({signals.SIGSEGV, signals.SIGABRT, signals.SIGILL, signals.SIGFPE, signals.SIGTRAP, signals.SIGSYS})


def by_ending(ending: Ending) -> Candidate | None:
    """Return what the ending alone says, as a candidate without a line; None where it ended well or nothing is known."""
    if ending.well or not ending.known:
        return None
    cause, meaning, text = _read(ending)
    return Candidate(
        cause=cause,
        kind=meaning.kind,
        error_type=meaning.error_type,
        component=meaning.component,
        restartable=meaning.restartable,
        confidence=meaning.confidence,
        source=FailureSource.EXIT,
        message=text,
        time=ending.time,
        node=ending.nodes[0] if len(ending.nodes) == 1 else "",
        rank=None,
        feed="",
        root=None,
    )


def _read(ending: Ending) -> tuple[str, ExceptionMeaning, str]:
    if ending.word in _BY_STATE:
        meaning, text = _BY_STATE[ending.word]
        return ending.word.lower(), meaning, f"{text} (state {ending.state})"
    number = ending.killed_by
    name = signals.Signals(number).name if number in set(signals.Signals) else f"signal {number}"
    if number in _BY_SIGNAL:
        meaning, text = _BY_SIGNAL[number]
        return name.lower(), meaning, f"{text} ({name}); no line of the log says why"
    if number in _CRASH:
        native = ExceptionMeaning(kinds.NATIVE, _UNKNOWN, _NONE, None, 0.3)
        return name.lower(), native, f"ended by {name}, a fault in native code; no line of the log says why"
    if ending.exit_code is None and not number:
        return (
            "ended",
            ExceptionMeaning(kinds.HINT, _UNKNOWN, _NONE, None, 0.2),
            f"ended as {ending.state}; no line says why",
        )
    unknown = ExceptionMeaning(kinds.HINT, _UNKNOWN, _NONE, None, 0.2)
    return f"exit_{ending.exit_code}", unknown, f"exit code {ending.exit_code}; no line of the log says why"
