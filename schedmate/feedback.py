"""Writing down what a person says about a verdict."""

import time
from collections.abc import Mapping
from typing import Any

from records import Explained, Feedback, InvalidRecord, check, decode, encode
from schedmate.approvals import person
from schedmate.assembly import producer_factory
from schedmate.settings import Settings
from schedmate.sinking import clickhouse_opener
from sinks.clickhouse import ask
from streams.transport import TransportError, outgoing

ACKNOWLEDGED_S = 30.0

_VERDICT = (
    "SELECT attempt, id, signature FROM verdicts WHERE job = {job:String} "
    "AND ({attempt:Int64} < 0 OR attempt = {attempt:Int64}) ORDER BY attempt DESC LIMIT 1"
)


class NotCorrected(Explained):
    """The feedback cannot be written; the message says what was expected and what came."""


def correct(settings: Settings, job: str, attempt: int | None, said: Mapping[str, Any]) -> Feedback:
    """Return what a person says about the verdict on an attempt of `job`; None: the last that has a verdict, else the first.

    Raises:
        NotCorrected: A text is too long, or no text.
        SinkUnavailable: ClickHouse is away.
    """
    client = clickhouse_opener(settings.clickhouse)()
    try:
        found = ask(client, _VERDICT, {"job": job, "attempt": str(-1 if attempt is None else attempt)}).rows
    finally:
        client.close()
    known, verdict_id, verdict = found[0] if found else (0, "", "")
    about, now, user = known if attempt is None else attempt, time.time(), person()
    record = Feedback(
        id=f"feedback/{job}/{about}/{user}/{now:.3f}",
        job=job,
        attempt=about,
        time=now,
        user=user,
        verdict_id=verdict_id,
        verdict=verdict,
        **said,
    )
    try:
        whole = decode(Feedback, encode(record))
        check(whole)
    except InvalidRecord as error:
        raise NotCorrected(str(error)) from error
    if "\n" in record.line or not record.line.strip():
        raise NotCorrected(f"expected one line in --line, got {record.line[:80]!r}")
    return whole


def send(settings: Settings, record: Feedback) -> None:
    """Write it to its topic, and return once Kafka has it. Raises `TransportError`."""
    producer = producer_factory(settings)()
    try:
        producer.send(outgoing(record)).result(ACKNOWLEDGED_S)
    except TimeoutError as error:
        raise TransportError(f"expected an acknowledgement within {ACKNOWLEDGED_S:g} s, got none") from error
    finally:
        producer.close()
