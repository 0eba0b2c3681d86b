"""The lines that may explain a failure, and which of them is the root."""

from collections.abc import Iterable, Sequence
from math import inf

import msgspec

from schedmate_records import Component, ErrorType, Evidence, FailureSource

from ..classified_chunk import PROGRESS, ClassifiedChunk
from .faults import merged, of_one_card, origins
from .kinds import CERTAIN, CHILD, EXIT, FAULT, HINT, LAUNCHER, PASSING, STARVED, THREAD, VAGUE, WEAK, explained
from .launch import speaker, torn_down
from .loops import LoopEnd

RANKS = 16
"""Other ranks remembered that said the same."""
KEPT = 10
"""Candidates remembered per attempt: the earliest of each cause."""
SURVIVED = 5
"""Progress lines of its rank after a candidate that show it was not the end."""
ELSEWHERE = 50
"""Progress lines of other ranks after a candidate that make it likely: no rank goes on so far without one that died, unless none waits."""
WENT_ON = 500
"""Lines of no special kind after a candidate that make it likely in a log whose progress nobody can read."""
FOLLOWED = 3
"""Lines of no special kind, from the one on that says how the program goes on, that show that it did."""
LAST = {HINT: 12, VAGUE: 60}
"""Lines of no special kind that may follow what is taken for the last words of a stored log."""
WORDS = "error_words"
"""The cause of a line that is an error only by a word somewhere in it."""
APART_S = 1.0
"""Clocks of ranks are trusted to this many seconds: another rank's progress counts only when it is later by more."""


class Candidate(msgspec.Struct):
    """A line, or an ending without one, that may explain the failure. Most fields as in `records.Failure`.

    Attributes:
        speaker: Rank that printed the line, where its launcher says so in front of it.
        told: Where other ranks first said the same, by rank.
        accuses: Rank that a launcher names in it as the first that failed: its number in the job and on its node.
        survived: Lines of progress of its rank after it.
        elsewhere: Lines of progress of other ranks after it.
        passed: Lines of no special kind after it in its stream.
        newest: Line at which its cause was met last in its stream.
        retried: Whether what failed there was then tried again, so far without another word of it.
        since: Lines of progress of its rank after its cause was met last.
        after: Lines of no special kind after its cause was met last.
        goes_on: Lines of no special kind after it that show that the program went on, where it says so; 0 where it does not.
        settled: Whether the job's last words show that it did no harm, so far without another trouble.
        uncaught: Whether the hook tells it that runs as its rank's process ends.
        loop: The counters of its rank's reports, and the rows of numbers, after it.
        origins: Cards and processes that a driver names in faults of this cause.
        warned: Whether Python's `warnings` tell it: the program means to go on without, and may fail for the want of it.
    """

    cause: str
    kind: str
    error_type: ErrorType
    component: Component
    restartable: bool | None
    confidence: float
    source: FailureSource
    message: str
    time: float
    node: str
    rank: int | None
    feed: str
    root: Evidence | None
    speaker: int | None = None
    told: dict[int, Evidence] = {}
    accuses: list[int] = []
    support: list[Evidence] = []
    survived: int = 0
    elsewhere: int = 0
    passed: int = 0
    newest: int = 0
    retried: bool = False
    since: int = 0
    after: int = 0
    goes_on: int = 0
    settled: bool = False
    uncaught: bool = False
    loop: LoopEnd = msgspec.field(default_factory=LoopEnd)
    origins: list[str] = []
    warned: bool = False

    @property
    def order(self) -> tuple[float, int, str, int]:
        """Earliest first: by time, then rank, then line. An ending comes after the lines of its time."""
        if self.root is None:
            return self.time, 1 << 31, "", 0
        return self.time, self.rank or 0, self.feed, self.root.line

    @property
    def over(self) -> bool:
        """True once its rank went on after it."""
        return self.survived >= SURVIVED

    @property
    def quiet(self) -> bool:
        """True where so much came after it, without a report, that it was not the end if the job prints none."""
        return self.passed >= WENT_ON and self.kind not in CERTAIN

    @property
    def went_on(self) -> bool:
        """True where the program said how it goes on, and did."""
        return self.goes_on > 0 and (self.since > 0 or (self.after >= self.goes_on and self.kind not in CERTAIN))

    def past(self, readable: bool) -> bool:
        """Return whether the job likely went on after it, though its rank did not show it; `readable`: the job's progress can be read."""
        return self.elsewhere >= ELSEWHERE or (self.quiet and not readable)

    def alive(self, readable: bool) -> bool:
        """Return False once the job went on after it, or while it tries again."""
        return not (self.over or self.retried or self.settled or self.went_on or self.past(readable))


def add(kept: list[Candidate], new: Candidate) -> None:
    """Put `new` into `kept`: one of each cause, the earliest that the job has not survived; bounded.

    Of what may be tried again there is one of each stream: what comes to nothing there may be the end here.
    """
    if new.kind not in WEAK and not new.warned:
        for one in kept:
            one.settled = one.settled and one.feed != new.feed
    for index, old in enumerate(kept):
        if _alike(old, new) and (old.feed == new.feed or new.kind not in PASSING):
            if not (old.over or old.quiet or old.went_on):
                # Tried again in vain: the first time counts.
                old.newest, old.retried, old.goes_on, old.since, old.after = new.newest, False, new.goes_on, 0, 0
                if new.kind == FAULT:
                    _suspect_the_card(old, new)
                if new.speaker is not None and new.root and len(old.told) < RANKS and new.speaker != old.speaker:
                    old.told.setdefault(new.speaker, new.root)
                if new.order >= old.order and (new.warned or not old.warned):
                    return
            kept[index] = new
            return
    kept.append(new)
    if len(kept) > KEPT:
        # The root is early and strong: what is dead goes first, then what others tell too, then the weak, then the latest.
        firsts = _firsts(sorted(kept, key=lambda one: one.order))
        worst = max(
            kept, key=lambda one: (not one.alive(readable=False), one not in firsts, one.kind in WEAK, one.order)
        )
        kept.remove(worst)


def _suspect_the_card(old: Candidate, new: Candidate) -> None:
    """Note on both whose faults were told; where several processes of one card had them, it is the card's."""
    known = merged(old.origins or origins(old.message), origins(new.message))
    old.origins = new.origins = known
    if of_one_card(known):
        for one in (old, new):
            one.error_type, one.component, one.restartable = ErrorType.INFRASTRUCTURE, Component.GPU, True


def _alike(one: Candidate, other: Candidate) -> bool:
    return one.cause == other.cause and one.kind == other.kind


def _firsts(ordered: Iterable[Candidate]) -> list[Candidate]:
    """Return the first of each cause."""
    firsts: dict[tuple[str, str], Candidate] = {}
    for one in ordered:
        firsts.setdefault((one.cause, one.kind), one)
    return list(firsts.values())


def choose(kept: Iterable[Candidate], *, readable: bool, ended_badly: bool, stopped: bool = False) -> list[Candidate]:
    """Return the root, then the other candidates in order; nothing where no candidate makes a verdict.

    Kinds decide first (a candidate that another one explains is no root), then the launcher's word on whose failure came first, then
    time. Weak kinds count only where the attempt is known to have ended badly; where it is only known to have `stopped` (a stored file),
    last words count that call themselves an error.
    """
    alive = _firsts(sorted((one for one in kept if one.alive(readable)), key=lambda one: one.order))
    if not ended_badly:
        # What waited in vain for a helper shows that the helper's error mattered, as does a launcher that tells of a failure
        # after a thread's; a process that ended itself, that its words did.
        shown = {CHILD: _last(alive, STARVED), HINT: _last(alive, EXIT)}
        shown[THREAD] = max(_last(alive, kind) for kind in (STARVED, LAUNCHER, EXIT))
        alive = [
            one
            for one in alive
            if one.kind not in WEAK or one.order < shown[one.kind] or (stopped and _last_words(one))
        ]
        end = max((one.order for one in alive if not one.warned), default=(-inf, 0, "", 0))
        alive = [one for one in alive if not one.warned or one.order < end]
    if stopped:
        alive = [one for one in alive if one.kind != VAGUE or one.passed < LAST[VAGUE]]
    roots = [
        one
        for index, one in enumerate(alive)
        if not explained(
            one.kind, (other.kind for other in alive[:index]), (other.kind for other in alive[index + 1 :])
        )
    ]
    # Two streams of one moment come in either order: what a root beside it explains, though printed a little later, is no root.
    firsts = [one for one in roots if not any(_beside(other, one) for other in roots)]
    root = (firsts or roots or alive)[:1]
    return _accused(root + [one for one in alive if one is not root[0]])


def _accused(ranked: list[Candidate]) -> list[Candidate]:
    """Return `ranked`; in place of a root of another rank, what the rank said that a launcher saw fail first, if of the same kind."""
    ranks = {rank for one in ranked for rank in one.accuses}
    if not ranks or (ranked[0].kind in CERTAIN and ranked[0].speaker is None):  # the kernel's words are no rank's
        return ranked
    root, *others = ranked
    if root.speaker in ranks:
        return ranked
    if place := next((place for rank, place in root.told.items() if rank in ranks), None):
        return [msgspec.structs.replace(root, root=place, message=place.text.strip()[:300]), *others]
    accused = [one for one in others if one.kind == root.kind and one.speaker in ranks][:1]
    return accused + [one for one in ranked if one not in accused]


def _last_words(one: Candidate) -> bool:
    return one.kind == HINT and one.cause != WORDS and not one.survived and one.passed < LAST[HINT]


def _last(alive: Iterable[Candidate], kind: str) -> tuple[float, int, str, int]:
    return max((one.order for one in alive if one.kind == kind), default=(-inf, 0, "", 0))


def _beside(cause: Candidate, one: Candidate) -> bool:
    """Return whether `cause`, of another stream and of about the same time, explains `one`."""
    near = cause.feed != one.feed and one.time < cause.time <= one.time + APART_S
    return near and explained(one.kind, (cause.kind,), ())


def revive(kept: Iterable[Candidate], readable: bool) -> list[Candidate]:
    """Return `kept` with those that the job only likely went on after: where an attempt ended badly and nothing else says why."""
    return [
        one
        if one.over or one.alive(readable)
        else msgspec.structs.replace(one, elsewhere=0, passed=0, retried=False, goes_on=0, settled=False)
        for one in kept
    ]


def survive(one: Candidate, progress: int, others: int = 0) -> None:
    """Count `progress` lines of progress and `others` of no special kind after the candidate, of its rank."""
    one.survived = min(one.survived + progress, SURVIVED)
    one.passed = min(one.passed + others, WENT_ON)
    one.since, one.after = min(one.since + progress, SURVIVED), min(one.after + others, LAST[HINT])


def survive_reports(kept: list[Candidate], name: str, reports: Sequence[str], others: Sequence[str]) -> None:
    """Count the lines of progress `reports` and `others` of no special kind after the candidates of stream `name`."""
    for one in kept:
        if one.feed != name:
            continue
        own = reports if one.speaker is None else [line for line in reports if _own(one, line)]
        one.elsewhere = min(one.elsewhere + len(reports) - len(own), ELSEWHERE)
        survive(one, len(own), len(others))
        if not one.over and (one.loop.reached(own) or one.loop.tabulated([*own, *others])):
            one.goes_on, one.since = FOLLOWED, max(one.since, 1)
        if one.over and one.root and torn_down(one.root.text):
            _start_again(kept, one)


def _own(one: Candidate, report: str) -> bool:
    """Return whether the rank of `one` printed `report`. Of one that names itself only as it ends, others bear no label either."""
    label = speaker(report)
    return label == one.speaker or (label is None and not one.uncaught)


def _start_again(kept: Iterable[Candidate], teardown: Candidate) -> None:
    """Take what came before a launcher ended all ranks for survived: they run again."""
    for one in kept:
        if one.feed == teardown.feed and one.order < teardown.order:
            survive(one, SURVIVED)


def survive_elsewhere(view: ClassifiedChunk, name: str, kept: Iterable[Candidate]) -> None:
    """Count what `view`, of stream `name`, shows of progress after the candidates of other streams, by time."""
    for one in kept:
        if one.feed == name or view.times[-1] <= one.time + APART_S:
            continue
        pairs = zip(view.classes, view.times, strict=True)
        progress = sum(letter == PROGRESS and time > one.time + APART_S for letter, time in pairs)
        if view.rank == one.rank:
            survive(one, progress)
        else:
            one.elsewhere = min(one.elsewhere + progress, ELSEWHERE)
