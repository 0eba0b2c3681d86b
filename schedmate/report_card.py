"""A job's report card: what it requested, what it used, and one sentence of advice."""

import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clickhouse_connect.driver.client import Client

from sinks.clickhouse.queries import ask

from .explain.facts import JobFacts, facts_of
from .explain.records import JobRecords, read_records
from .job_state import StateWord
from .times import short_span

_REQUEST = (
    "SELECT argMaxIf(toNullable(e.name), e.time, e.name != '') AS name, argMaxIf(e.gpus, e.time, isNotNull(e.gpus)) AS gpus, "
    "argMaxIf(e.cpus, e.time, isNotNull(e.cpus)) AS cpus, argMaxIf(e.memory_gib, e.time, isNotNull(e.memory_gib)) AS memory_gib, "
    "argMaxIf(e.time_limit_s, e.time, isNotNull(e.time_limit_s)) AS time_limit_s, "
    "maxOrNullIf(e.time, e.kind IN ('submitted', 'requeued') AND e.time <= fromUnixTimestamp64Micro({started:Int64}, 'UTC')) AS queued "
    "FROM scheduler_events AS e WHERE e.job = {job:String} AND e.incarnation IN ({incarnation:String}, '') "
    "AND e.kind IN ('submitted', 'requeued', 'started')"
)
_ACTIVITY = (
    "SELECT sumOrNull(working_s) AS working, sumOrNull(waiting_s) AS waiting, sumOrNull(idle_s + vacant_s) AS idle FROM ("
    "SELECT working_s, waiting_s, idle_s, vacant_s FROM gpu_activity "
    "WHERE job = {job:String} AND attempt = {attempt:Int64} AND incarnation IN ({incarnation:String}, '') "
    "ORDER BY time DESC LIMIT 1 BY node)"
)
_GPUS = (
    "SELECT avg(utilisation) AS utilisation, max(memory_used_bytes / nullIf(memory_total_bytes, 0)) AS memory FROM gpu_metrics "
    "WHERE node IN {nodes:Array(String)} AND has(jobs, {job:String}) "
    "AND time BETWEEN fromUnixTimestamp64Micro({started:Int64}, 'UTC') AND fromUnixTimestamp64Micro({ended:Int64}, 'UTC')"
)


@dataclass(frozen=True)
class ReportCard:
    """Report card of one attempt. An unknown value is None.

    Attributes:
        job: The job.
        attempt: Restart count.
        name: Its name, as its user chose it; empty for none.
        user: Its user; empty where not known.
        state: State and reason, in one sentence.
        word: The state.
        waited_s: Time in the queue before it started, in seconds.
        ran_s: Time from its start to its end or now, in seconds.
        time_limit_s: Time limit, in seconds.
        gpus: GPUs that it held.
        working: Share of GPU time, of samples with an answer, in which a kernel worked.
        idle: Share of GPU time without a kernel.
        utilisation: Mean utilisation of its GPUs that NVML reports, 0 to 1.
        gpu_memory: Peak share of a GPU's memory.
        cpus: CPUs that it requested.
        memory_gib: Memory that it requested, in GiB.
    """

    job: str
    attempt: int
    name: str
    user: str
    state: str
    word: StateWord
    waited_s: float | None
    ran_s: float | None
    time_limit_s: float | None
    gpus: float | None
    working: float | None
    idle: float | None
    utilisation: float | None
    gpu_memory: float | None
    cpus: float | None
    memory_gib: float | None

    def table(self) -> tuple[str, Sequence[str], list[list[object]]]:
        """Return the title, the columns and the rows of the card."""
        named = f" ({self.name})" if self.name else ""
        user = f", of {self.user}" if self.user else ""
        rows: list[list[object]] = [
            ["time", _span(self.time_limit_s), _span(self.ran_s)],
            ["waiting time", "", _span(self.waited_s)],
            ["GPUs", _number(self.gpus), None if self.working is None else f"{self.working:.0%} of the time working"],
            ["GPU utilisation", "", _share(self.utilisation)],
            ["GPU memory", "", None if self.gpu_memory is None else f"{self.gpu_memory:.0%} at most"],
            ["CPUs", _number(self.cpus), None],
            ["memory", None if self.memory_gib is None else f"{self.memory_gib:.4g} GiB", None],
        ]
        return f"Job {self.job}{named}, attempt {self.attempt}{user}: {self.state}", ("", "requested", "used"), rows

    @property
    def advice(self) -> str:
        """One sentence on what to change: the first that applies."""
        return next(self._advices())

    def _advices(self) -> Iterator[str]:
        if self.word is StateWord.TIME_LIMIT:
            yield "Request more time, or resume from the last checkpoint."
        if self.word is StateWord.OUT_OF_MEMORY:
            yield "Request more memory, or use less: fewer data workers, or a smaller batch."
        if self.word.is_failure:
            yield f"`schedmate explain {shlex.quote(self.job)}` shows why it failed and what to do."
        # The advice is about idle GPUs where less than half of the GPU time has a working kernel.
        if self.idle is not None and self.idle > 0.5:
            yield f"Its GPUs were idle for {self.idle:.0%} of the time: request fewer, or check data loading and evaluation."
        # The advice is about the batch size where the peak is below a quarter of the GPU memory.
        if self.gpu_memory is not None and self.gpu_memory < 0.25:
            yield f"It used {self.gpu_memory:.0%} of its GPUs' memory at most: try a larger batch or a smaller GPU."
        if self.word is StateWord.COMPLETED and self.ran_s is not None and self.time_limit_s is not None:
            share = self.ran_s / self.time_limit_s
            # The advice is to request less where less than half of the time limit was used.
            if share < 0.5:
                yield f"It used {share:.0%} of its time limit: with a shorter limit it may start earlier."
        if self.working is None:
            yield "No GPU samples of this job are on record, so its use of GPUs is not known."
        yield "Nothing to change."


def read_card(client: Client, job: str, attempt: int | None = None) -> ReportCard | None:
    """Return the report card of an attempt of `job`, the newest by default; None where nothing is on record of it.

    Raises:
        SinkRejected: The database has no tables.
        SinkUnavailable: The server is away.
    """
    records = read_records(client, job)
    known = [row["attempt"] for row in (*records.verdicts, *records.events)]
    if not known or (facts := facts_of(client, records, max(known) if attempt is None else attempt)) is None:
        return None
    return card_of(client, records, facts)


def card_of(client: Client, records: JobRecords, facts: JobFacts) -> ReportCard:
    """Return the report card of the attempt of `facts`. Raises as `read_card` does."""
    ran = facts.ran or {}
    started, ended = ran.get("started"), ran.get("ended")
    values = {**records.found.values(), "attempt": str(facts.attempt), "nodes": ran.get("nodes") or []}
    values |= {"started": _micros(started, 0), "ended": _micros(ended, 2**62 // 10**6)}
    request = _row(client, _REQUEST, values)
    use = _row(client, _ACTIVITY, values)
    gpus = _row(client, _GPUS, values) if started else {}
    total = sum(use[name] or 0.0 for name in ("working", "waiting", "idle"))
    now = time.time()
    return ReportCard(
        job=records.found.job,
        attempt=facts.attempt,
        name=request["name"] or "",
        user=ran.get("user") or "",
        state=facts.state.sentence(now),
        word=facts.state.word,
        waited_s=(started - request["queued"]).total_seconds() if started and request["queued"] else None,
        ran_s=None if started is None else (ended.timestamp() if ended else now) - started.timestamp(),
        time_limit_s=request["time_limit_s"],
        gpus=ran.get("gpus") or request["gpus"],
        working=use["working"] / total if total else None,
        idle=use["idle"] / total if total else None,
        utilisation=None if gpus.get("utilisation") is None else gpus["utilisation"] / 100,
        gpu_memory=gpus.get("memory"),
        cpus=request["cpus"],
        memory_gib=request["memory_gib"],
    )


def _row(client: Client, sql: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
    used = {name: value for name, value in values.items() if f"{{{name}:" in sql}
    answer = ask(client, sql, used)
    return dict(zip(answer.columns, answer.rows[0], strict=True))


def _micros(moment: datetime | None, otherwise: int) -> str:
    return str(int((moment.timestamp() if moment else otherwise) * 1e6))


def _span(seconds: float | None) -> str | None:
    return None if seconds is None else short_span(seconds)


def _share(value: float | None) -> str | None:
    return None if value is None else f"{value:.0%}"


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:g}"
