"""Which kinds of events follow from which: what makes the root of a failure stand out among its consequences.

A candidate that another one explains is never the root. `AFTER` holds for consequences that came later, `BEFORE` also for
those printed earlier: a scheduler tells of a dead node after the node's jobs have cried out, and kernel messages reach a log late.
"""

from collections.abc import Iterable

NODE = "node"  # the host died, or its kernel ended a process
DEVICE = "device"  # a GPU or its driver
STALL = "stall"  # a GPU that stopped: by itself, or because of an access of the program that it refused
FAULT = "fault"  # an access of the program that its GPU refused: a word of the hardware says more
REFUSED = "refused"  # what the program's runtime says of such an access
SYMPTOM = "symptom"  # what the program's runtime says of a GPU: the driver's own word says more
FABRIC = "fabric"  # NVLink, InfiniBand, a lost host
STORAGE = "storage"  # disk, quota, file system
SERVICE = "service"  # a remote service that the job needs
EXCEPTION = "exception"  # the program's own error
BUG = "bug"  # an error of the program that no other process can have caused: a wrong key, type, name or path
NATIVE = "native"  # the program was ended by a fault of its own (SIGSEGV, SIGABRT, SIGBUS)
ABORT = "abort"  # the program ended itself; what it had met is told before or right after
SCHEDULE = "schedule"  # the scheduler or a person ended the job, and says why
CANCEL = "cancel"  # the scheduler ended the job and does not say why: often because a task had failed
KILL = "kill"  # SIGKILL from somebody
COLLECTIVE = "collective"  # a collective timed out or was aborted
PEER = "peer"  # the other end of a connection went away
SIGNAL = "signal"  # somebody asked the job from outside to end, and does not say why
LAUNCHER = "launcher"  # a launcher reports what became of a process, or tears the others down
VAGUE = "vague"  # a failure whose outcome is not told: a command of a job script, a traceback that was cut off
EXIT = "exit"  # a launcher tells that a process ended itself with a code of its own: what it printed last is why
THREAD = "thread"  # an error that ended a helper thread: the job may go on without it, or hang, or end
CHILD = "child"  # an error of a helper process or at the exit that need not end the job
STARVED = "starved"  # a part of the program waited in vain for another part of it
HINT = "hint"  # a line that calls itself an error and says no more
WARNING = "warning"  # a driver reports an error that ended nothing: a finding of the node, no candidate
BENIGN = "benign"  # a line that looks like a failure and says that the program goes on: makes no candidate
RETRY = "retry"  # a line that says that something is tried again: what was told right before it did no harm
WELL = "well"  # a line that says that the job ended well: what its stream printed before was not the end of it
GOES_ON = "goes_on"  # a line that says how the program goes on: what was told right before it did no harm if it does
GAVE_UP = "gave_up"  # a line that says that trying again was in vain: what was told before it did harm
FAREWELL = "farewell"  # a line that may be a program's last: what it had gone on after did no harm

KINDS = (
    NODE, DEVICE, STALL, FAULT, REFUSED, SYMPTOM, FABRIC, STORAGE, SERVICE, EXCEPTION, BUG, NATIVE, ABORT, SCHEDULE, CANCEL, KILL,
    COLLECTIVE, PEER, SIGNAL, LAUNCHER, VAGUE, EXIT, THREAD, CHILD, STARVED, HINT, WARNING, BENIGN, RETRY, WELL, GOES_ON,
    GAVE_UP, FAREWELL,
)  # fmt: skip

WEAK = frozenset({THREAD, CHILD, HINT})
"""Kinds that make a verdict only where the attempt is known to have ended badly."""

CERTAIN = frozenset({NODE, DEVICE, STALL, FAULT, REFUSED, SYMPTOM, FABRIC, STORAGE, SCHEDULE})
"""Kinds that the words of the job cannot deny."""

NO_FAILURE = frozenset({WARNING, BENIGN, RETRY, WELL, GOES_ON, GAVE_UP, FAREWELL})
"""Kinds that make no candidate."""

PASSING = frozenset({SERVICE, PEER, HINT})
"""Kinds that come to nothing where it is tried again."""

FOREIGN = frozenset({NODE, DEVICE, STALL, FABRIC, SCHEDULE})
"""Kinds of which the program cannot know that they do no harm."""

_NOISE = frozenset({PEER, SIGNAL, LAUNCHER, EXIT, THREAD, CHILD, STARVED, HINT, CANCEL, KILL})
_DEATH = _NOISE | {EXCEPTION, BUG, NATIVE, ABORT, COLLECTIVE, SERVICE}

AFTER: dict[str, frozenset[str]] = {
    NODE: _DEATH | {DEVICE, STALL, FAULT, REFUSED, SYMPTOM, FABRIC, STORAGE},
    DEVICE: _DEATH | {STALL, FAULT, REFUSED, SYMPTOM, FABRIC},
    STALL: _DEATH | {SYMPTOM, FABRIC},
    FAULT: _DEATH | {STALL, REFUSED, SYMPTOM, FABRIC},
    REFUSED: _DEATH | {STALL, SYMPTOM, FABRIC},
    SYMPTOM: _DEATH | {FABRIC},
    FABRIC: _DEATH,
    STORAGE: _DEATH,
    SERVICE: _DEATH,
    EXCEPTION: _DEATH,
    BUG: _DEATH,
    NATIVE: _DEATH,
    ABORT: _NOISE,
    SCHEDULE: _DEATH,
    CANCEL: _DEATH - {BUG},  # a task that failed may say so after the scheduler has ended the others
    KILL: _NOISE | {EXCEPTION, ABORT, COLLECTIVE},
    COLLECTIVE: _NOISE | {EXCEPTION, NATIVE, ABORT, COLLECTIVE},
    PEER: (_NOISE - {KILL}) | {COLLECTIVE, ABORT},
    SIGNAL: _NOISE,
    LAUNCHER: _NOISE - {KILL},
    VAGUE: frozenset({LAUNCHER, EXIT, THREAD, CHILD, STARVED, HINT}),
    EXIT: _NOISE - {EXIT},
    THREAD: frozenset({LAUNCHER, EXIT, THREAD, CHILD, STARVED, HINT}),
    CHILD: frozenset({CHILD, STARVED, HINT}),
    STARVED: frozenset({LAUNCHER, HINT}),
    HINT: frozenset({HINT, EXIT}),
    WARNING: frozenset(),
    BENIGN: frozenset(),
    RETRY: frozenset(),
    WELL: frozenset(),
    GOES_ON: frozenset(),
    GAVE_UP: frozenset(),
    FAREWELL: frozenset(),
}

BEFORE: dict[str, frozenset[str]] = {
    NODE: _NOISE | {VAGUE, DEVICE, STALL, FAULT, REFUSED, SYMPTOM, NATIVE, ABORT, COLLECTIVE},
    DEVICE: _NOISE | {VAGUE, STALL, FAULT, REFUSED, SYMPTOM, NATIVE, COLLECTIVE, ABORT},
    STALL: _NOISE | {VAGUE, SYMPTOM, NATIVE, COLLECTIVE, ABORT},
    FAULT: _NOISE | {VAGUE, STALL, REFUSED, SYMPTOM, NATIVE, COLLECTIVE, ABORT},
    REFUSED: _NOISE | {VAGUE, STALL, COLLECTIVE, ABORT},
    SYMPTOM: _NOISE | {VAGUE, COLLECTIVE, ABORT},
    FABRIC: _NOISE | {VAGUE, COLLECTIVE, ABORT},
    STORAGE: _NOISE | {VAGUE, ABORT},
    SERVICE: _NOISE | {VAGUE, ABORT},
    EXCEPTION: frozenset({VAGUE, ABORT, PEER, LAUNCHER, THREAD, CHILD, HINT}),
    BUG: frozenset({VAGUE, KILL, CANCEL, COLLECTIVE, ABORT, PEER, LAUNCHER, THREAD, CHILD, HINT}),
    NATIVE: frozenset({VAGUE, PEER, LAUNCHER, THREAD, CHILD, HINT}),
    ABORT: frozenset({VAGUE, LAUNCHER, THREAD, CHILD, HINT}),
    SCHEDULE: _NOISE | {VAGUE},
    CANCEL: frozenset({VAGUE, LAUNCHER, THREAD, CHILD, HINT}),
    KILL: frozenset({VAGUE, PEER, LAUNCHER, THREAD, CHILD, HINT}),
    COLLECTIVE: frozenset({VAGUE, LAUNCHER, THREAD, CHILD, HINT}),
    PEER: frozenset({CHILD, HINT}),
    SIGNAL: frozenset({VAGUE, LAUNCHER, THREAD, CHILD, HINT}),
    LAUNCHER: frozenset({CHILD, HINT}),
    VAGUE: frozenset({HINT}),
    EXIT: frozenset({LAUNCHER, CHILD, STARVED, PEER}),
    THREAD: frozenset({CHILD, HINT}),
    CHILD: frozenset({HINT}),
    STARVED: frozenset({LAUNCHER, HINT}),
    HINT: frozenset(),
    WARNING: frozenset(),
    BENIGN: frozenset(),
    RETRY: frozenset(),
    WELL: frozenset(),
    GOES_ON: frozenset(),
    GAVE_UP: frozenset(),
    FAREWELL: frozenset(),
}


def explained(kind: str, earlier: Iterable[str], later: Iterable[str]) -> bool:
    """Return whether an event of `kind` follows from one of the kinds that came before it, or of those that came after."""
    return any(kind in AFTER[other] for other in earlier) or any(kind in BEFORE[other] for other in later)
