"""Writing a person's feedback on a verdict."""

import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

import msgspec

from schedmate_records import (
    Component,
    ErrorType,
    Feedback,
    InvalidRecord,
    JobReference,
    LogChunk,
    Opinion,
    UserError,
    check,
    decode,
    encode,
)
from sinks.clickhouse.queries import QueryResult, ask
from streams.accept import accept
from streams.kafka import read_back
from streams.transport import write_records

from .approvals import person
from .assembly import producer_factory
from .connections import kafka_connection
from .services.sink import clickhouse_reader
from .settings.settings import Settings

_VERDICT = (
    "SELECT incarnation, attempt, id, signature FROM verdicts WHERE job = {job:String} "
    "AND ({incarnation:String} = '' OR incarnation = {incarnation:String}) "
    "AND ({attempt:Int64} < 0 OR attempt = {attempt:Int64}) ORDER BY time DESC, attempt DESC LIMIT 1"
)


class NotCorrected(UserError):
    """The feedback cannot be written; the message states what was expected and what came."""


def correct(settings: Settings, job: str, attempt: int | None, words: Mapping[str, Any]) -> Feedback:
    """Return a person's feedback on the verdict on an attempt of `job`; None: the last that has a verdict, else the first.

    Raises:
        NotCorrected: A text is too long, or no text.
        SinkUnavailable: ClickHouse is away.
    """
    job, incarnation = JobReference.parse(job)
    wanted = {"job": job, "incarnation": incarnation, "attempt": str(-1 if attempt is None else attempt)}
    found = _ask(settings, _VERDICT, wanted).rows
    incarnation, known, verdict_id, verdict = found[0] if found else (incarnation, 0, "", "")
    about, now, user = known if attempt is None else attempt, time.time(), person()
    record = Feedback(
        id=f"feedback/{job}/{about}/{user}/{now:.3f}",
        job=job,
        incarnation=incarnation,
        attempt=about,
        time=now,
        user=user,
        verdict_id=verdict_id,
        verdict=verdict,
        **words,
    )
    try:
        whole = decode(Feedback, encode(record))
        check(whole)
    except InvalidRecord as error:
        raise NotCorrected(str(error)) from error
    if (record.error_type is ErrorType.INFRASTRUCTURE) != (record.component is not Component.NONE):
        raise NotCorrected(
            f"expected --component with --error-type infrastructure, and only then; got {record.error_type} and {record.component}"
        )
    if "\n" in record.line or not record.line.strip():
        raise NotCorrected(f"expected one line in --line, got {record.line[:80]!r}")
    return whole


def send(settings: Settings, record: Feedback) -> None:
    """Write it to its topic, and return once Kafka has it. Raises `TransportError`."""
    with closing(producer_factory(settings)()) as producer:
        write_records(producer, [record])


_SAID = (
    "SELECT id, job, attempt, toUnixTimestamp64Micro(time) / 1e6 AS time, user, cause, error_type, component, line, verdict_id, verdict, "
    "comment FROM corrections WHERE line != '' AND ({job:String} = '' OR job = {job:String}) ORDER BY time"
)
_JUDGED = (
    "SELECT f.opinions, c.error_type FROM corrections AS c INNER JOIN failures AS f ON f.id = c.verdict_id "
    "WHERE c.error_type != 'unknown' AND f.opinions NOT IN ('', '[]') ORDER BY c.time, c.id LIMIT 1 BY c.id"
)
_ENDS = (
    "SELECT job, argMax(state = 'COMPLETED' OR (state = '' AND exit_code = 0), attempt) FROM attempts "
    "WHERE ended IS NOT NULL AND ended > now() - toIntervalDay(14) GROUP BY job"
)


def feedback_on(settings: Settings, job: str) -> list[Feedback]:
    """Return the last word of people on each attempt of `job`; of all jobs where it is empty."""
    return [
        msgspec.convert(dict(zip(answer.columns, row, strict=True)), Feedback)
        for answer in [_ask(settings, _SAID, {"job": job})]
        for row in answer.rows
    ]


def ends(settings: Settings) -> dict[str, bool]:
    """Return whether each job that ended within two weeks ended well."""
    return {job: bool(well) for job, well in _ask(settings, _ENDS, {}).rows}


def judged_opinions(settings: Settings) -> Iterator[tuple[list[Opinion], ErrorType]]:
    """Yield the opinions of rules and model of each corrected verdict, and the error type that the person states."""
    for opinions, error_type in _ask(settings, _JUDGED, {}).rows:
        yield msgspec.json.decode(opinions, type=list[Opinion]), ErrorType(error_type)


def history(settings: Settings, hours: float) -> Iterator[LogChunk]:
    """Yield what jobs printed within `hours`, as far as Kafka keeps it. Raises `TransportError`."""
    for message in read_back(kafka_connection(settings.kafka), ["job-logs"], time.time() - hours * 3600):
        try:
            record = accept(message)
        except InvalidRecord:
            continue
        if isinstance(record, LogChunk):
            yield record


def _ask(settings: Settings, sql: str, values: Mapping[str, str]) -> QueryResult:
    with closing(clickhouse_reader(settings.clickhouse)()) as client:
        return ask(client, sql, values)
