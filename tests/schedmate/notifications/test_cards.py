"""Report cards go to the users of jobs, by a real SMTP server, from a real database."""

import time
from collections.abc import Iterator

import pytest

from schedmate.cli.notify import report_cards
from schedmate.notifications.cards import Cards
from schedmate.notifications.email import EmailChannel
from schedmate.notifications.notifier import Notifier
from schedmate.notifications.urgency import Urgency
from schedmate.report_card import ReportCard, read_card
from schedmate.settings.settings import NotifySection, Settings, SettingsError
from schedmate_records import EventKind, JobEvent, Position
from sinks import SinkUnavailable
from sinks.clickhouse.writer import ClickHouseWriter
from tests.schedmate.notifications.test_notifier import Mails, mails, until
from tests.sinks.conftest import Embedded, embedded

__all__ = ["embedded", "mails"]

NOW = time.time()


def event(job: str, kind: EventKind, ago: float, user: str = "ada", **fields: object) -> JobEvent:
    known = {"scheduler": "slurm", "nodes": ["n1"], "gpus": 8.0, "name": "llama", "time_limit_s": 7200.0} | fields
    return JobEvent(id=f"{job}/{kind}", job=job, kind=kind, time=NOW - ago, user=user, **known)  # type: ignore[arg-type]


class Reader:
    """Reads cards of the database; its first answer is an outage."""

    def __init__(self, database: Embedded) -> None:
        self.database, self.calls = database, 0

    def __call__(self, job: str, attempt: int) -> ReportCard | None:
        self.calls += 1
        if self.calls == 1:
            raise SinkUnavailable("no answer")
        return read_card(self.database.client, job, attempt)


@pytest.fixture
def cards(embedded: Embedded, mails: tuple[Mails, str]) -> Iterator[tuple[Notifier, Mails, Embedded]]:
    handler, server = mails
    channel = EmailChannel(
        server, "schedmate@example.org", (), user_domain="example.org", tls=False, severity=Urgency.INFO
    )
    notifier = Notifier([], cards=Cards(channel, {"ada"}, Reader(embedded), delay_s=0.0))
    yield notifier, handler, embedded
    notifier.close()


def test_a_user_gets_the_card_once_the_database_has_the_end(cards: tuple[Notifier, Mails, Embedded]) -> None:
    notifier, handler, database = cards
    jobs = [("4711", "ada"), ("other", "bob"), ("last", "ada")]
    events = [
        each
        for job, user in jobs
        for each in (
            event(job, EventKind.STARTED, 3600, user),
            event(job, EventKind.ENDED, 10, user, state="COMPLETED", exit_code=0),
        )
    ]
    for each in events:
        notifier.add_record(each)
    writer = ClickHouseWriter(database.connect)
    writer.write([(Position("made", 0, place), each) for place, each in enumerate(events)])
    writer.close()
    until(lambda: len(handler.got) == 2)
    assert [mail["To"] for mail in handler.got] == ["ada@example.org"] * 2
    assert handler.got[0]["Subject"] == "[schedmate info] Job 4711 (llama), attempt 0, of ada: completed"
    text = handler.got[0].get_payload()
    assert "It used 50% of its time limit" in text
    assert "time: requested 2 h, used 59 min" in text
    assert "CPUs: requested -, used -" in text


def test_cards_need_a_receiver() -> None:
    settings = Settings(notify=NotifySection(email_report_cards=("*",)))
    with pytest.raises(SettingsError, match=r"notify\.email_user_domain"):
        report_cards(settings)
    assert report_cards(Settings()) is None
