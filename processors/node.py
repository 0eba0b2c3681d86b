"""Findings on a node, reported to its jobs: the path of one chunk of a node's log, or of one GPU sample.

lines or sample → findings → folded where they repeat → one record for each attempt that is on the node then
sample → what the GPUs of each attempt do (`activity/node.py`)

Placements and findings come in any order; whichever comes second makes the record.
"""

import re
from collections.abc import Sequence

import msgspec
from prometheus_client import Counter

from schedmate_records import (
    Component,
    ErrorType,
    Evidence,
    GpuSample,
    NodeFinding,
    NodeLogChunk,
    Placement,
    Position,
    Record,
    Severity,
)

from .activity.gpu import GAP_S
from .activity.node import follow
from .budget import over_budget
from .diagnose.catalogue import Signature, load
from .diagnose.drivers import read_xid
from .diagnose.nodes.corroborate import AFTER_S, BEFORE_S
from .diagnose.nodes.finding import identity, worse
from .diagnose.nodes.gpu import COUNTERS, GpuReader
from .diagnose.nodes.log import NodeLogReader
from .grammar.extractor import templates
from .keyed import Part
from .new_lines import NewLines, Numbering, deduplicate
from .node_state import KnownPlacement, NodeState, ReportedFinding

HEALTHY_AFTER_S = 30.0
"""GPUs are judged so long after a job ended: Xids and counters come with the next samples."""
HEALTHY = "gpus_healthy"
"""Signature of the finding that GPUs were watched and showed nothing."""


_COUNTED = re.compile(
    r"\b(\d{1,9}) (?:CE\b|new (?:correctable|deferred) hardware errors|[\w ]{1,40} since the sample before)"
)
"""Words of the kernel, of amdgpu and of `GpuReader` behind a number of new errors."""


class NodeMetrics:
    """Metrics of findings on nodes."""

    def __init__(self) -> None:
        self.findings = Counter("schedmate_nodes_findings", "Findings on nodes, without repeats.", registry=None)
        self.repeats = Counter(
            "schedmate_nodes_repeats",
            "Findings repeated within minutes and counted with the first.",
            registry=None,
        )
        self.reported = Counter("schedmate_nodes_reported", "Findings reported to a job.", registry=None)
        self.alone = Counter("schedmate_nodes_alone", "Findings on nodes without a known job.", registry=None)
        self.activities = Counter("schedmate_nodes_activities", "Reports of GPU activity to jobs.", registry=None)
        self.passed_over = Counter(
            "schedmate_nodes_passed_over",
            "Lines of new text beyond their node's budget. They are treated as blank, because a log of root may contain text of users.",
            registry=None,
        )


class NodeProcessor:
    """The `KeyedProcessor` of nodes."""

    inputs = ("node-logs", "gpu-metrics", "placements")
    replayed = ("node-logs", "gpu-metrics")
    state_topic = "node-state"
    state = NodeState
    parts = ""
    part = Part

    def __init__(self, signatures: Sequence[Signature] | None = None) -> None:
        known = load() if signatures is None else signatures
        self._log, self._gpus = NodeLogReader(known), GpuReader(known)
        rates = {one.name: (one.repeats, one.within_s) for one in known}
        rates |= {one.name: (one.repeats, one.within_s) for one in COUNTERS}
        self._rates = {name: rate for name, rate in rates.items() if rate[0]}
        self.metrics = NodeMetrics()

    def fresh(self, key: str) -> NodeState:
        """Return the state of node `key` before its first record."""
        return NodeState(node=key)

    def process(self, state: NodeState, position: Position, record: Record) -> list[Record]:
        """Return the findings that follow from `record` at `position`; `state` then includes it."""
        match record:
            case NodeLogChunk():
                state.clock = record.last_arrival
                fresh = deduplicate(record, _numbering(state, f"{record.source}/{record.producer}"))
                masked = self._masked(fresh, record.time, state)
                found = self._log.read(record.node, record.source, fresh, position, masked)
                return [each for one in found for each in self._found(one, state)]
            case GpuSample():
                state.clock = record.time
                found = self._gpus.read(record, position, state.gpus)
                _watch(record.time, state)
                made = [each for one in found for each in self._found(one, state)]
                return made + self._healthy(record, position, state) + self._activity(record, position, state)
            case Placement():
                return self._place(record, state)
            case _:
                raise TypeError(f"expected a record of {' or '.join(self.inputs)}, got {type(record).__name__}")

    def replay(self, state: NodeState, position: Position, record: Record) -> None:
        """There is no part that could lack a record."""

    def ended(self, state: NodeState) -> bool:  # as the protocol has it
        """Return False: a node has no end."""
        return False

    def is_confirmed(self, state: NodeState) -> bool:
        """Return whether the node's own log or samples were read: jobs cannot write those."""
        return state.clock > 0

    def is_claim(self, record: Record) -> bool:
        """Return whether a record is a placement that only a job's own records name."""
        return isinstance(record, Placement) and not record.reported

    def _masked(self, fresh: NewLines, time: float, state: NodeState) -> Sequence[str]:
        """Return the templates of new lines; those beyond the node's budget for new text are blank."""
        masked = templates(fresh.lines)
        beyond = set(over_budget(state.budget, fresh.lines, masked, time))
        self.metrics.passed_over.inc(len(beyond))
        return ["" if place in beyond else each for place, each in enumerate(masked)] if beyond else masked

    def _found(self, one: NodeFinding, state: NodeState) -> list[Record]:
        one = self._rated(_followed(one, state), state)
        first = next((known for known in state.findings if _is_repeat(known.finding, one)), None)
        if first is None:
            self.metrics.findings.inc()
            first = ReportedFinding(one)
            state.keep(first)
        else:
            self.metrics.repeats.inc()
            first.times += 1
            if not _round(first.times):
                return []
        concerned = _concerned(first.finding, state)
        if not concerned:
            self.metrics.alone.inc()
            return [_report(first, None, [])]
        self.metrics.reported.inc(len(concerned))
        return [_report(first, placement, concerned) for placement in concerned]

    def _rated(self, one: NodeFinding, state: NodeState) -> NodeFinding:
        """Return `one`, one level worse where such events of its device or link repeat above the rate of their signature."""
        rate = self._rates.get(one.signature)
        key = f"{one.place.topic}/{one.signature}/{one.gpu}/{one.device}/{one.link}"
        return worse(one) if rate and state.repeats(key, one.time, _count(one.place.text), *rate) else one

    def _place(self, placement: Placement, state: NodeState) -> list[Record]:
        """Report to a placement that is new, or changed, what concerns it; to others what concerns them alone no longer, or now."""
        was = [_concerned(known.finding, state) for known in state.findings]
        now = state.merge(placement).placement
        news = []
        for known, before in zip(state.findings, was, strict=True):
            after = _concerned(known.finding, state)
            keys = [_attempt(each) for each in before]
            changed = bool(before) and _shared(before) != _shared(after)
            news += [
                _report(known, each, after) for each in after if changed or (each is now and _attempt(now) not in keys)
            ]
        self.metrics.reported.inc(len(news))
        return [*news]

    def _activity(self, sample: GpuSample, position: Position, state: NodeState) -> list[Record]:
        """Return what the sample changes for the jobs whose GPUs it is of."""
        live = {key: known.placement for key, known in state.placements.items() if known.lasts(sample.time)}
        made = follow(sample, position, live, state.activity)
        self.metrics.activities.inc(len(made))
        return [*made]

    def _healthy(self, sample: GpuSample, position: Position, state: NodeState) -> list[Record]:
        """Return, once a placement, that the GPUs were watched around its end and showed nothing."""
        made: list[Record] = []
        for memory in state.placements.values():
            until = memory.placement.until
            if until is None or memory.judged or sample.time < until + HEALTHY_AFTER_S:
                continue
            memory.judged = True
            trouble = any(
                known.finding.place.topic == position.topic
                and _concerns(known.finding, memory)
                and known.finding.time >= until - BEFORE_S
                for known in state.findings
            )
            if not trouble and state.watched_since <= until - AFTER_S:
                made.append(
                    _all_healthy(memory.placement, sample, position, max(state.watched_since, memory.placement.since))
                )
        return made


def _numbering(state: NodeState, source: str) -> Numbering:
    known = state.sources.get(source)
    if known is None:
        if len(state.sources) >= 64:
            del state.sources[min(state.sources, key=lambda name: state.sources[name].updated)]
        known = state.sources[source] = Numbering()
    return known


def _watch(time: float, state: NodeState) -> None:
    if abs(time - state.watched) > GAP_S:  # a gap, or a clock that was set
        state.watched_since = state.watched = time
    state.watched = max(state.watched, time)


def _count(text: str) -> int:
    """Return how many errors a line reports; 1 where it states none, or states a sum since the driver was loaded."""
    found = _COUNTED.search(text)
    return int(found[1]) if found else 1


def _followed(one: NodeFinding, state: NodeState) -> NodeFinding:
    """Return `one` with the meaning of the Xid that it names as its cause, if that was reported for the same device."""
    xid = read_xid(one.place.text) if one.event else None
    if xid is None or xid.caused_by is None:
        return one
    name = f"Xid {xid.caused_by}"
    earlier = (
        known.finding
        for known in reversed(state.findings)
        if (known.finding.place.topic, known.finding.device) == (one.place.topic, one.device)
        and f"{known.finding.event} ".startswith(f"{name} ")
    )
    cause = next(earlier, None)
    if cause is None:
        return one
    return msgspec.structs.replace(
        one,
        signature=cause.signature,
        kind=cause.kind,
        severity=cause.severity,
        error_type=cause.error_type,
        component=cause.component,
        restartable=cause.restartable,
        confidence=cause.confidence,
        recommended_action=cause.recommended_action,
        drain=cause.drain,
    )


def _is_repeat(first: NodeFinding, one: NodeFinding) -> bool:
    return _what(first) == _what(one) and abs(one.time - first.time) < 300.0


def _what(one: NodeFinding) -> tuple[object, ...]:
    """Return what identifies a finding. One with another severity or recovery action is a new finding."""
    return one.place.topic, one.signature, one.severity, one.recovery_action, one.gpu, one.device, one.jobs


def _round(times: int) -> bool:
    """Return whether `times` is a power of ten: repeats are reported so seldom."""
    return str(times).strip("0") == "1"


def _concerns(one: NodeFinding, memory: KnownPlacement) -> bool:
    if not memory.holds(one.time):
        return False
    # A node's log knows a job by its number alone, without its cluster, or by the SLUID of its run; the node is in one cluster.
    placement = memory.placement
    names = {placement.job, placement.job.rpartition("/")[2], placement.sluid}
    return not one.jobs or not names.isdisjoint(one.jobs)


def _concerned(one: NodeFinding, state: NodeState) -> list[Placement]:
    """Return the placements that `one` concerns."""
    return [memory.placement for memory in state.placements.values() if _concerns(one, memory)]


def _attempt(placement: Placement) -> str:
    return placement.run


def _shared(placements: Sequence[Placement]) -> bool:
    return len({placement.job for placement in placements}) > 1


def _report(known: ReportedFinding, placement: Placement | None, concerned: Sequence[Placement]) -> NodeFinding:
    """Return the finding as it is reported to `placement`; `concerned` are all that it is reported to.

    That it was reported to others too is news for the job, not another finding: its id stays.
    """
    one, times = known.finding, known.times
    job, attempt = (placement.job, placement.attempt) if placement else ("", 0)
    incarnation = placement.incarnation if placement else ""
    whose = f"{one.id}/{placement.run}" if placement else one.id
    jobs = sorted({each.job for each in concerned}) or one.jobs
    return msgspec.structs.replace(
        one,
        id=whose if times == 1 else f"{whose}/x{times}",
        job=job,
        attempt=attempt,
        incarnation=incarnation,
        jobs=jobs,
        times=times,
    )


def _all_healthy(placement: Placement, sample: GpuSample, position: Position, since: float) -> NodeFinding:
    place = Evidence(
        topic=position.topic,
        partition=position.partition,
        offset=position.offset,
        line=1,
        text=(
            f"the GPUs were sampled without a gap for {sample.time - since:.0f} s, until {HEALTHY_AFTER_S:.0f} s after the end, "
            "and showed nothing"
        ),
        stream="gpu",
    )
    return NodeFinding(
        id=f"{identity(placement.node, place, HEALTHY)}/{placement.run}",
        job=placement.job,
        attempt=placement.attempt,
        incarnation=placement.incarnation,
        node=placement.node,
        time=sample.time,
        since=since,
        signature=HEALTHY,
        severity=Severity.INFO,
        error_type=ErrorType.NONE,
        component=Component.NONE,
        place=place,
    )
