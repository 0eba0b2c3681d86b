"""End of an attempt, and the cause that follows from it alone."""

import signal as signals
from typing import NamedTuple

from schedmate_records import Component, ErrorType, FailureSource, Position

from .candidates import Candidate
from .kinds import Classification, Kind


class Ending(NamedTuple):
    """The end of an attempt, from a job event, or of a stored file.

    Attributes:
        job: The job.
        attempt: Restart count.
        position: Position of the event in the input; the end of a file.
        time: Seconds since 1970.
        exit_code: Null where not known, as for a stored file.
        signal: Signal that ended it; null or 0 for none.
        state: The scheduler's state; empty where not known.
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
    def is_known(self) -> bool:
        """False if nothing is known of the ending, as of a stored file."""
        return self.exit_code is not None or bool(self.signal) or bool(self.word)

    @property
    def word(self) -> str:
        """The first word of the state: `CANCELLED by 1000` is `CANCELLED`."""
        return self.state.upper().split(" ")[0].rstrip("+")


_OTHER, _UNKNOWN, _INFRA = ErrorType.OTHER, ErrorType.UNKNOWN, ErrorType.INFRASTRUCTURE
_NONE, _NODE = Component.NONE, Component.NODE

_BY_STATE: dict[str, tuple[Classification, str]] = {
    "TIMEOUT": (Classification(Kind.SCHEDULE, _OTHER, _NONE, None, 0.95), "the scheduler ended it at its time limit"),
    "DEADLINE": (Classification(Kind.SCHEDULE, _OTHER, _NONE, None, 0.95), "the scheduler ended it at its deadline"),
    "PREEMPTED": (Classification(Kind.SCHEDULE, _OTHER, _NONE, True, 0.95), "the scheduler preempted it"),
    "CANCELLED": (Classification(Kind.CANCEL, _OTHER, _NONE, True, 0.85), "it was cancelled"),
    "NODE_FAIL": (Classification(Kind.NODE, _INFRA, _NODE, True, 0.95), "one of its nodes failed"),
    "BOOT_FAIL": (Classification(Kind.NODE, _INFRA, _NODE, True, 0.95), "one of its nodes did not boot"),
    "OUT_OF_MEMORY": (Classification(Kind.NODE, _INFRA, _NODE, False, 0.9), "it exceeded its memory limit"),
}  # fmt: skip

_CRASH = (Classification(Kind.NATIVE, _UNKNOWN, _NONE, None, 0.3), "a fault in native code")
_KILL = (
    Classification(Kind.KILL, _OTHER, _NONE, None, 0.4),
    "killed from outside: by a person, the scheduler or the kernel",
)
_BY_SIGNAL: dict[int, tuple[Classification, str]] = {
    signals.SIGKILL: _KILL,
    signals.SIGTERM: (Classification(Kind.SIGNAL, _OTHER, _NONE, True, 0.6), "asked from outside to end"),
    signals.SIGHUP: (Classification(Kind.SIGNAL, _OTHER, _NONE, True, 0.6), "its terminal or session went away"),
    signals.SIGINT: (Classification(Kind.SCHEDULE, _OTHER, _NONE, True, 0.8), "interrupted by a person"),
    signals.SIGXCPU: (Classification(Kind.SCHEDULE, _OTHER, _NONE, None, 0.8), "it exceeded its limit of processor time"),
    signals.SIGBUS: (Classification(Kind.NATIVE, _INFRA, _NODE, True, 0.45), "a mapped page was not available"),
    **dict.fromkeys((signals.SIGSEGV, signals.SIGABRT, signals.SIGILL, signals.SIGFPE, signals.SIGTRAP, signals.SIGSYS), _CRASH),
}  # fmt: skip
_UNEXPLAINED = Classification(Kind.HINT, _UNKNOWN, _NONE, None, 0.2)


def candidate_from_ending(ending: Ending) -> Candidate | None:
    """Return what the ending alone states, as a candidate without a line; None where it ended well or nothing is known."""
    if ending.well or not ending.is_known:
        return None
    cause, meaning, text = _explain(ending)
    node = ending.nodes[0] if len(ending.nodes) == 1 else ""
    return Candidate(cause, *meaning, FailureSource.EXIT, text, ending.time, node, None, "", None)


def _explain(ending: Ending) -> tuple[str, Classification, str]:
    if ending.word in _BY_STATE:
        meaning, text = _BY_STATE[ending.word]
        return ending.word.lower(), meaning, f"{text} (state {ending.state})"
    number = ending.killed_by
    if number in _BY_SIGNAL:
        meaning, text = _BY_SIGNAL[number]
        name = signals.Signals(number).name
        return name.lower(), meaning, f"{text} ({name}); no line of the log explains it"
    if ending.exit_code is None and not number:
        return "ended", _UNEXPLAINED, f"ended as {ending.state}; no line of the log explains it"
    return f"exit_{ending.exit_code}", _UNEXPLAINED, f"exit code {ending.exit_code}; no line of the log explains it"
