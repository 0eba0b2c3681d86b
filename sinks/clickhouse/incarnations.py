"""Which of several jobs of one id a person means (`schedmate_records/incarnation.py`)."""

from dataclasses import dataclass
from datetime import UTC, datetime

from clickhouse_connect.driver.client import Client

from schedmate_records import JobReference

from .faults import translated_errors

_BEGINNING = datetime.fromtimestamp(0, UTC)
_END = datetime(2100, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class FoundJob:
    """One of the jobs of an id.

    Attributes:
        job: The scheduler's job id.
        incarnation: Which job of this id; empty where no event names one.
        since: Time of its first event.
        until: Time of the first event of the job that used the id next.
        others: References to the other jobs of the id, the newest first.
    """

    job: str
    incarnation: str = ""
    since: datetime = _BEGINNING
    until: datetime = _END
    others: tuple[str, ...] = ()

    @property
    def is_newest(self) -> bool:
        """Whether no other job has used the id since."""
        return self.until == _END

    def values(self) -> dict[str, str]:
        """Return the parameters `job`, `incarnation`, `since` and `until` of a query; times in whole seconds since 1970."""
        return {
            "job": self.job,
            "incarnation": self.incarnation,
            "since": str(int(self.since.timestamp())),
            "until": str(int(self.until.timestamp())),
        }


def find_job(client: Client, text: str) -> FoundJob:
    """Return the job that a person names: `4711` is the newest of its id, `4711@INCARNATION` a certain one.

    An id that itself holds the separator is found, too.

    Raises:
        SinkRejected: The database has no tables.
        SinkUnavailable: The server is away.
    """
    wanted = JobReference.parse(text)
    known = _known_incarnations(client, wanted.job)
    if wanted.incarnation and all(name != wanted.incarnation for name, _ in known):
        wanted = JobReference(text)
        known = _known_incarnations(client, text)
    if not known:
        return FoundJob(wanted.job)
    names = [name for name, _ in known]
    place = names.index(wanted.incarnation) if wanted.incarnation else 0
    return FoundJob(
        job=wanted.job,
        incarnation=names[place],
        since=known[place][1] if place + 1 < len(known) else _BEGINNING,
        until=known[place - 1][1] if place else _END,
        others=tuple(str(JobReference(wanted.job, name)) for name in names if name != names[place]),
    )


def _known_incarnations(client: Client, job: str) -> list[tuple[str, datetime]]:
    with translated_errors("looking for the jobs of an id"):
        rows = client.query(
            "SELECT incarnation, min(time) AS since FROM scheduler_events WHERE job = {job:String} AND incarnation != '' "
            "GROUP BY incarnation ORDER BY since DESC, incarnation",
            parameters={"job": job},
        ).result_rows
    return [(name, since) for name, since in rows]
