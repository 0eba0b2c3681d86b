"""Recomputes from what honest jobs printed and from what the topics hold what must stand in the tables.

It counts and compares by itself: nothing of what makes the pipeline exact is used here.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field

import msgspec

from benchmarks.chaos.faults import Window
from benchmarks.chaos.hostile import UNDECODABLE
from benchmarks.chaos.jobs import Job, Way
from benchmarks.chaos.lateness import verdict_waits
from benchmarks.chaos.observed import Observed
from benchmarks.chaos.orders import OrderSearch
from benchmarks.chaos.program import DECIDED
from benchmarks.chaos.replay import MADE, Replayed, identity
from schedmate.assembly import job_processor
from schedmate.settings.settings import Settings
from schedmate_records import EventKind, InvalidRecord, JobEvent, JobReference, LogChunk, decode
from sinks.clickhouse.tables import TABLE_OF
from streams.accept import accept
from streams.transport import Message


@dataclass
class Verdict:
    """What the check found: figures for the report, and every problem in a sentence."""

    figures: dict[str, float] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def add(self, problems: Iterator[str], figure: str) -> None:
        """Take over `problems`, counted under `figure`."""
        found = list(problems)
        self.figures[figure] = self.figures.get(figure, 0) + len(found)
        self.problems += [f"{figure}: {problem}" for problem in found]


def check(
    jobs: Sequence[Job], observed: Observed, replayed: Replayed, windows: Sequence[Window], within_s: float
) -> Verdict:
    """Hold everything against what must be. An honest verdict must come `within_s` seconds, faults left out."""
    verdict = Verdict()
    honest = {job.name.encode() for job in jobs}
    chunks = _chunks(observed, honest)
    told = [*observed.topics["job-events"], *observed.topics["pipe-events"]]
    events = {event.id: event for each in told if each.key in honest for event in [decode(JobEvent, each.value)]}
    gone = Counter[str]()
    for event in events.values():
        if event.kind is EventKind.LINES_LOST:
            gone[event.job] += event.lines
    verdict.figures["lines printed"] = sum(len(job.lines) for job in jobs)
    verdict.figures["lines lost and counted"] = gone.total()
    for job in jobs:
        verdict.add(_lines(job, chunks.get(job.name, []), gone[job.name]), "jobs with wrong lines")
        if job.broken:
            verdict.add(iter([f"{job.name} ({job.way}): {job.broken}"]), "programs disturbed")
        if job.way is Way.BATCH:
            verdict.add(_watched(job, events.values()), "batch jobs of which the watcher told wrongly")
        if job.arrives_whole and observed.steps.get(job.name) != job.count:
            got = observed.steps.get(job.name)
            verdict.add(iter([f"{job.name} ({job.way}): {got} instead of {job.count}"]), "wrong last steps")
    for table, ids in observed.ids.items():
        verdict.figures[f"rows of {table}"] = len(ids)
        messages = [each for topic, held in TABLE_OF.items() if held == table for each in observed.topics[topic]]
        written = {identity(each.position.topic, each.value) for each in messages if _is_record(each)}
        verdict.add((f"{table} {each}" for each, times in Counter(ids).items() if times > 1), "rows doubled")
        verdict.add((f"{table} {each}" for each in written - set(ids)), "rows missing")
        verdict.add((f"{table} {each}" for each in set(ids) - written), "rows of nothing")
    _compare(observed, replayed, verdict)
    verdict.add(_unburied(observed), "undecodable messages without a dead letter")
    verdict.add(iter(observed.failed), "records at which a processor failed")
    verdict.add(_decisions(jobs, observed), "wrong decisions")
    verdict.figures["time-outs, which lead to no decision"] = sum(job.cause == "nccl" for job in jobs)
    waits = list(verdict_waits(jobs, chunks, observed.topics["failures"], windows))
    verdict.add((each.text() for each in waits if each.took_s is None), "verdicts missing")
    verdict.add((each.text() for each in waits if each.alone_s > within_s), "verdicts late")
    verdict.figures["verdicts"] = len(waits)
    took = sorted(each.took_s or 0.0 for each in waits) or [0.0]
    verdict.figures["verdict, median (s)"] = round(took[len(took) // 2], 2)
    verdict.figures["slowest verdict (s)"] = round(took[-1], 2)
    verdict.figures["slowest verdict, faults left out (s)"] = round(max((each.alone_s for each in waits), default=0), 2)
    return verdict


def _compare(observed: Observed, replayed: Replayed, verdict: Verdict) -> None:
    """Hold what workers wrote against the replay, job by job; jobs that differ must follow from some order of their topics."""
    expected, found = _by_key(replayed.made), _by_key(found_values(observed))
    verdict.figures["jobs replayed"] = len(expected.keys() | found.keys())
    differing = [key for key in sorted(expected.keys() | found.keys()) if expected.get(key) != found.get(key)]
    processor, reordered = job_processor(Settings().processors), 0
    for key in differing:
        wanted, got = expected.get(key, {}), found.get(key, {})
        inputs = [
            [(each.position, accept(each)) for each in _of(observed.topics[topic], key)] for topic in processor.inputs
        ]
        if OrderSearch(processor, got, [topic for topic in inputs if topic]).found(key):
            reordered += 1
            continue
        verdict.add(iter(wanted.keys() - got.keys()), "records missing")
        verdict.add(iter(got.keys() - wanted.keys()), "records too many")
        verdict.add((each for each in wanted.keys() & got.keys() if wanted[each] != got[each]), "records differing")
    verdict.figures["jobs whose records follow from another order of their topics"] = reordered


def found_values(observed: Observed) -> dict[str, dict[str, bytes]]:
    """Return what workers made, values by `identity`, by topic."""
    return {topic: {identity(topic, each.value): each.value for each in observed.topics[topic]} for topic in MADE}


def _by_key(made: dict[str, dict[str, bytes]]) -> dict[str, dict[str, bytes]]:
    found: dict[str, dict[str, bytes]] = {}
    for values in made.values():
        for name, value in values.items():
            found.setdefault(str(msgspec.json.decode(value)["job"]), {})[name] = value
    return found


def _of(messages: Sequence[Message], key: str) -> list[Message]:
    return [each for each in messages if each.key == key.encode() and _is_decodable(each)]


def _is_decodable(message: Message) -> bool:
    try:
        accept(message)
    except InvalidRecord:
        return False
    return True


def _is_record(message: Message) -> bool:
    """Return whether a message holds a record of its topic; what else stands in `job-events` is hostile."""
    return _is_decodable(message)


def _chunks(observed: Observed, honest: Set[bytes]) -> dict[str, list[LogChunk]]:
    found: dict[str, list[LogChunk]] = {}
    for message in observed.topics["job-logs"]:
        if message.key in honest:
            chunk = decode(LogChunk, message.value)
            found.setdefault(chunk.job, []).append(chunk)
    return found


def _lines(job: Job, chunks: Sequence[LogChunk], lost: int) -> Iterator[str]:
    """Yield what is wrong with the lines of `job` that arrived."""
    arrived: dict[tuple[str, int], str] = {}
    for chunk in chunks:
        for number, line in enumerate(chunk.lines, chunk.first_piece):
            if arrived.setdefault((chunk.producer, number), line) != line:
                yield f"{job.name} ({job.way}): piece {number} came twice, with different content"
    got, printed = [line for _, line in sorted(arrived.items())], job.lines
    if job.way is Way.KILLED:
        right = got == printed[: len(got)]
    elif job.way is Way.FULL_DISK:
        right = len(got) + lost == len(printed) and not Counter(got) - Counter(printed)
    else:
        right = got == printed and not lost
    if not right:
        yield f"{job.name} ({job.way}): {len(got)} lines arrived of {len(printed)}, {lost} counted as lost"


def _watched(job: Job, events: Iterable[JobEvent]) -> Iterator[str]:
    """Yield what is wrong with what the scheduler's watcher told of a job: submitted, started, ended with its exit code."""
    told = sorted(
        (event.kind, event.exit_code) for event in events if (event.job, event.scheduler) == (job.name, "slurm")
    )
    right = [(EventKind.SUBMITTED, None), (EventKind.STARTED, None), (EventKind.ENDED, job.exit_code)]
    if told != sorted(right, key=lambda each: each[0]):
        yield f"{job.name} ({job.label}), which ended with {job.exit_code}: {[(str(kind), code) for kind, code in told]}"


def _unburied(observed: Observed) -> Iterator[str]:
    for messages in observed.topics.values():
        for message in messages:
            place = message.position
            buried = (place.topic, place.partition, place.offset) in observed.buried
            if (message.key or b"").startswith(UNDECODABLE) and not buried:
                yield f"{place} {message.key!r}"


def _decisions(jobs: Sequence[Job], observed: Observed) -> Iterator[str]:
    results: dict[str, list[str]] = {}
    for decision, outcome in observed.results:
        results.setdefault(decision, []).append(outcome)
    for decision in observed.ids["decisions"]:
        final = [outcome for outcome in results.get(decision, []) if outcome != "started"]
        if len(final) != 1:
            yield f"{decision} has the final results {final}"
    decided = {JobReference.parse(decision.split("/")[1]).job for decision in observed.ids["decisions"]}
    for job in jobs:
        expected = job.cause in DECIDED
        if job.arrives_whole and expected != (job.name in decided):
            yield f"{job.name}, which fails of {job.cause}: {'no' if expected else 'a'} decision"
