"""The jobs that ended, in one SQLite file: history of the advisor, without a server.

One process writes; any number may read. A job is kept once, by its id and attempt; the newest `MOST` are loaded.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import msgspec

from processors.advise.past import MemoryHistory, PastJob
from processors.advise.past.similar_jobs import SimilarJobs
from processors.advise.past.vectors import MOST
from schedmate_records import Estimate, JobEvent, UserError, in_words

_VERSION = 1  # version of the file's tables
_SCHEMA = """
CREATE TABLE IF NOT EXISTS past_jobs (id TEXT PRIMARY KEY, ended REAL NOT NULL, past BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS past_jobs_ended ON past_jobs (ended);
CREATE TABLE IF NOT EXISTS estimates (event TEXT PRIMARY KEY, time REAL NOT NULL, estimate BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS submissions (id TEXT PRIMARY KEY, time REAL NOT NULL, event BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS open_attempts (id TEXT PRIMARY KEY, time REAL NOT NULL, event BLOB NOT NULL) WITHOUT ROWID;
"""


class HistoryFile:
    """Persistent history of the advisor. Changes are durable once `commit` returns."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, name: str, past: PastJob) -> bool:
        """Take in a job that ended, known as `name` (its id and attempt); False where it was there."""
        found = self._connection.execute(
            "INSERT OR IGNORE INTO past_jobs VALUES (?, ?, ?)", (name, past.ended, msgspec.msgpack.encode(past))
        )
        return found.rowcount > 0

    def load(
        self, most: int = MOST, commands: SimilarJobs | None = None, records: SimilarJobs | None = None
    ) -> MemoryHistory:
        """Return the newest jobs, for an estimator; arguments as those of `MemoryHistory`."""
        history = MemoryHistory(most, commands, records)
        history.extend(list(self.newest(most)))
        return history

    def newest(self, most: int) -> Iterator[PastJob]:
        """Yield the newest jobs, in the order of their ends."""
        rows = self._connection.execute(
            "SELECT past FROM (SELECT past, ended, id FROM past_jobs ORDER BY ended DESC, id DESC LIMIT ?) ORDER BY ended, id",
            (most,),
        )
        for (blob,) in rows:
            yield msgspec.msgpack.decode(blob, type=PastJob)

    def ended_since(self, ended: float, most: int) -> Iterator[PastJob]:
        """Yield jobs that ended after a moment, the first `most`, in the order of their ends."""
        rows = self._connection.execute(
            "SELECT past FROM past_jobs WHERE ended > ? ORDER BY ended, id LIMIT ?", (ended, most)
        )
        for (blob,) in rows:
            yield msgspec.msgpack.decode(blob, type=PastJob)

    def newest_end(self) -> float:
        """Return when the newest job ended; 0 without any."""
        (ended,) = self._connection.execute("SELECT max(ended) FROM past_jobs").fetchone()
        return float(ended or 0.0)

    def data_version(self) -> int:
        """Return a number that is another once another process has written."""
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        return int(version)

    def count(self) -> int:
        """Return how many jobs it holds."""
        (count,) = self._connection.execute("SELECT count(*) FROM past_jobs").fetchone()
        return int(count)

    def estimate_at(self, event: str) -> Estimate | None:
        """Return the estimate that was made at an event, so that a replay makes the same."""
        row = self._connection.execute("SELECT estimate FROM estimates WHERE event = ?", (event,)).fetchone()
        return msgspec.json.decode(row[0], type=Estimate) if row else None

    def record_estimate(self, event: str, estimate: Estimate) -> None:
        """Remember the estimate that was made at an event."""
        self._connection.execute(
            "INSERT OR IGNORE INTO estimates VALUES (?, ?, ?)", (event, estimate.time, msgspec.json.encode(estimate))
        )

    def estimates(self) -> Iterator[Estimate]:
        """Yield all estimates that are remembered."""
        for (text,) in self._connection.execute("SELECT estimate FROM estimates ORDER BY time"):
            yield msgspec.json.decode(text, type=Estimate)

    def scored(self) -> Iterator[tuple[Estimate, PastJob]]:
        """Yield each job that ended with its last estimate before the start, in the order of their ends."""
        rows = self._connection.execute(
            "SELECT id, estimate, past FROM estimates JOIN past_jobs "
            "ON past_jobs.id = json_extract(CAST(estimate AS TEXT), '$.job') || '/' || "
            "json_extract(CAST(estimate AS TEXT), '$.attempt') ORDER BY ended, id, estimates.time"
        )
        for _, of_one in groupby(rows, key=itemgetter(0)):
            first, *later = [(msgspec.json.decode(text, type=Estimate), blob) for _, text, blob in of_one]
            past = msgspec.msgpack.decode(first[1], type=PastJob)
            in_time = [each for each, _ in later if each.time <= past.ended - past.duration_s]
            yield (in_time or [first[0]])[-1], past

    def submit(self, name: str, event: JobEvent) -> None:
        """Remember the submission of an attempt."""
        self._connection.execute(
            "INSERT OR REPLACE INTO submissions VALUES (?, ?, ?)", (name, event.time, msgspec.json.encode(event))
        )

    def submitted(self, name: str) -> JobEvent | None:
        """Return the submission of an attempt that has not ended."""
        return self._event("submissions", name)

    def waiting(self) -> Iterator[JobEvent]:
        """Yield the submissions of attempts that have not ended, in order."""
        return self._events("submissions")

    def running(self) -> Iterator[JobEvent]:
        """Yield the starts of attempts that have not ended, in order."""
        return self._events("open_attempts")

    def close(self, name: str) -> None:
        """Forget an attempt that has ended."""
        for table in ("submissions", "open_attempts"):
            self._connection.execute(f"DELETE FROM {table} WHERE id = ?", (name,))  # noqa: S608  # no text of others

    def _event(self, table: str, name: str) -> JobEvent | None:
        row = self._connection.execute(f"SELECT event FROM {table} WHERE id = ?", (name,)).fetchone()  # noqa: S608
        return msgspec.json.decode(row[0], type=JobEvent) if row else None

    def _events(self, table: str) -> Iterator[JobEvent]:
        for (text,) in self._connection.execute(f"SELECT event FROM {table} ORDER BY time, id"):  # noqa: S608
            yield msgspec.json.decode(text, type=JobEvent)

    def open(self, name: str, event: JobEvent) -> None:
        """Remember the event that began an attempt."""
        self._connection.execute(
            "INSERT OR REPLACE INTO open_attempts VALUES (?, ?, ?)", (name, event.time, msgspec.json.encode(event))
        )

    def opened(self, name: str) -> JobEvent | None:
        """Return the event that began an attempt."""
        return self._event("open_attempts", name)

    def forget(self, now: float) -> None:
        """Forget records that are past their time."""
        for table in ("estimates", "open_attempts", "submissions"):
            # Estimates, and attempts whose end never came, are kept for as long as a topic keeps events.
            self._connection.execute(f"DELETE FROM {table} WHERE time < ?", (now - 14 * 86_400.0,))  # noqa: S608  # no text of others

    def commit(self) -> None:
        """Make all changes last."""
        self._connection.commit()

    def add_all(self, jobs: Iterable[tuple[str, PastJob]]) -> int:
        """Take in many jobs at once and return how many were new."""
        new = sum(self.add(name, past) for name, past in jobs)
        self.commit()
        return new


@contextmanager
def history_file(path: Path) -> Iterator[HistoryFile]:
    """Open the history at `path`; it is made where there is none. Raises `UserError` where that is no history or cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path, timeout=10.0)
    except (OSError, sqlite3.Error) as error:
        raise UserError(f"expected a file for the history of jobs at {path}: {in_words(error)}") from error
    try:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_SCHEMA)
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version not in (0, _VERSION):
                raise UserError(
                    f"expected a history of version {_VERSION} at {path}, got {version}: this release is older"
                )
            connection.execute(f"PRAGMA user_version = {_VERSION}")
        except sqlite3.Error as error:
            raise UserError(f"expected a history of jobs at {path}: {error}") from error
        yield HistoryFile(connection)
    finally:
        connection.close()
