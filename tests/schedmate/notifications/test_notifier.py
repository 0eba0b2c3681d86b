"""Messages to a real HTTP server and a real SMTP server."""

import json
import shlex
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message as MailHandler

from schedmate.notifications.channel import Channel, ChannelError, ChannelSettings
from schedmate.notifications.email import EmailChannel
from schedmate.notifications.message import Notification, describe
from schedmate.notifications.notifier import Notifier
from schedmate.notifications.slack import SlackChannel
from schedmate.notifications.urgency import Urgency
from schedmate.notifications.webhook import WebhookChannel
from schedmate_records import (
    Action,
    Alarm,
    AlarmKind,
    Decision,
    DecisionResult,
    ErrorType,
    EventKind,
    Evidence,
    JobEvent,
    Mode,
    Outcome,
    Record,
)
from tests.metric_values import value
from tests.scheduler_bridge.findings import NOW, failure
from tests.servers import free_port
from tests.servers.certificates import Authority
from tests.waiting import until

DECISION = Decision(
    id="restart/1/0/x",
    action=Action.RESTART,
    job="1",
    time=NOW,
    expires=NOW + 60,
    mode=Mode.ACT,
    policy="restart-on-infrastructure-failure",
    reason="The GPU of n1 has fallen off the bus.",
    evidence=[
        Evidence(topic="job-logs", partition=0, offset=3, line=7, text="<!channel> Xid 79\r\nBcc: all@example.org")
    ],
)
OWNER = JobEvent(id="e", job="1", kind=EventKind.STARTED, time=NOW, user="ada")


def result(outcome: Outcome = Outcome.FAILED, **more: Any) -> DecisionResult:
    fields: dict[str, Any] = {"job": "1", "time": NOW, "detail": "no right to do so", "actuator": "slurm", **more}
    return DecisionResult(
        id=f"{DECISION.id}/{outcome}", decision_id=DECISION.id, action=Action.RESTART, outcome=outcome, **fields
    )


class Web:
    """A server that keeps what is posted, and refuses while `status` is no 200."""

    def __init__(self, port: int = 0) -> None:
        self.got: list[tuple[dict[str, str], Any]] = []
        self.status, self.tries, self.elsewhere = 200, 0, ""
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                web.tries += 1
                if web.status == 200:
                    web.got.append((dict(self.headers), body))
                self.send_response(web.status)
                if web.elsewhere:
                    self.send_header("Location", web.elsewhere)
                self.end_headers()

            def do_GET(self) -> None:
                web.tries += 1
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook/secret"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()


@pytest.fixture
def web() -> Iterator[Web]:
    web = Web()
    yield web
    web.server.shutdown()
    web.server.server_close()


class Mails(MailHandler):
    def __init__(self) -> None:
        super().__init__(EmailMessage)
        self.got: list[EmailMessage] = []

    def handle_message(self, message: EmailMessage) -> None:
        self.got.append(message)


@pytest.fixture
def mails() -> Iterator[tuple[Mails, str]]:
    handler, port = Mails(), free_port()
    controller = Controller(handler, hostname="127.0.0.1", port=port)
    controller.start()
    yield handler, f"127.0.0.1:{port}"
    controller.stop()


def take_all(notifier: Notifier, *records: Record) -> None:
    for record in records:
        notifier.add_record(record)


def test_a_webhook_gets_the_whole_record_what_why_who_and_the_evidence(web: Web) -> None:
    notifier = Notifier([WebhookChannel(web.url, "a-token")], clock=lambda: NOW)
    take_all(notifier, DECISION, OWNER, result())
    notifier.close()
    ((headers, body),) = web.got
    assert headers["Authorization"] == "Bearer a-token"
    assert (body["severity"], body["title"]) == ("critical", "restart job 1: failed")
    assert DECISION.reason in body["text"]
    assert "no right to do so" in body["text"]
    assert body["labels"] | {"user": "ada", "actor": "slurm", "policy": DECISION.policy, "job": "1"} == body["labels"]
    assert body["record"]["decision_id"] == DECISION.id
    assert body["quotes"] == ["job-logs/0@3 line 7: <!channel> Xid 79\r\nBcc: all@example.org"]


def test_slack_finds_no_mention_in_what_a_job_printed(web: Web) -> None:
    notifier = Notifier([SlackChannel(web.url, Urgency.INFO)], clock=lambda: NOW)
    take_all(notifier, DECISION, result(Outcome.AWAITING_APPROVAL))
    notifier.close()
    text = web.got[0][1]["text"]
    assert "&lt;!channel&gt; Xid 79" in text
    assert "<!channel>" not in text
    assert "schedmate decisions approve restart/1/0/x" in text


def test_the_command_to_approve_is_one_word_whatever_the_job_is_called() -> None:
    """An operator copies it into a shell."""
    message = describe(
        msgspec.structs.replace(result(Outcome.AWAITING_APPROVAL), decision_id="restart/'; rm -rf ~; '/0/x")
    )
    assert message
    (command,) = [line for line in message.lines if line.startswith("schedmate")]
    assert shlex.split(command)[3] == "restart/'; rm -rf ~; '/0/x"


def test_nor_do_its_kin(web: Web) -> None:
    """Mattermost, Rocket.Chat and Discord read what Slack does not; a verdict's message is a line of the job."""
    notifier = Notifier([SlackChannel(web.url, Urgency.INFO)], clock=lambda: NOW)
    take_all(notifier, failure(final=True, message="boom @channel [open this](http://evil.example)"))
    notifier.close()
    text = web.got[0][1]["text"]
    assert "boom @" in text
    assert "@channel" not in text
    assert "](" not in text


def test_mail_goes_to_operators_and_to_the_owner_of_the_job(mails: tuple[Mails, str]) -> None:
    handler, server = mails
    channel = EmailChannel(
        server,
        "schedmate@example.org",
        ("ops@example.org",),
        user_domain="example.org",
        tls=False,
        severity=Urgency.WARNING,
    )
    notifier = Notifier([channel], clock=lambda: NOW)
    take_all(notifier, DECISION, OWNER, result())
    notifier.close()
    (mail,) = handler.got
    assert mail["To"] == "ops@example.org, ada@example.org"
    assert mail["Subject"] == "[schedmate critical] restart job 1: failed"
    assert mail["Bcc"] is None
    text = mail.get_payload()
    assert DECISION.reason in text
    assert "> Bcc: all@example.org" in text


def test_mail_goes_to_the_owner_whom_the_scheduler_names(mails: tuple[Mails, str]) -> None:
    handler, server = mails
    channel = EmailChannel(
        server, "schedmate@example.org", (), user_domain="example.org", tls=False, severity=Urgency.WARNING
    )
    forged = msgspec.structs.replace(OWNER, id="pipe/1/0/started/1", scheduler="pipe", user="eve")
    notifier = Notifier([channel], clock=lambda: NOW)
    take_all(notifier, DECISION, forged, OWNER, forged, result())
    notifier.close()
    assert [mail["To"] for mail in handler.got] == ["ada@example.org"]


def test_names_of_users_that_are_no_addresses_get_no_mail(mails: tuple[Mails, str]) -> None:
    handler, server = mails
    channel = EmailChannel(server, "schedmate@example.org", (), user_domain="example.org", tls=False)
    message = describe(result())
    assert message
    for user in ("", "a b", "x@evil.example,", "ada\nBcc: all"):
        channel.send(message, user)
    assert handler.got == []
    channel.send(message, "ada")
    assert [mail["To"] for mail in handler.got] == ["ada@example.org"]


def test_a_server_without_tls_gets_no_mail_where_it_must_have_it(mails: tuple[Mails, str]) -> None:
    message = describe(result())
    assert message
    with pytest.raises(ChannelError, match=r"127\.0\.0\.1"):
        EmailChannel(mails[1], "schedmate@example.org", ("ops@example.org",)).send(message, "")
    assert mails[0].got == []


@pytest.mark.parametrize("status", [301, 302, 303, 307])
def test_a_redirect_is_no_delivery_and_is_not_followed(web: Web, status: int) -> None:
    elsewhere = Web()
    web.status, web.elsewhere = status, elsewhere.url
    message = describe(result())
    assert message
    with pytest.raises(ChannelError, match=f"status {status}"):
        WebhookChannel(web.url, "token").send(message, "ada")
    elsewhere.server.shutdown()
    elsewhere.server.server_close()
    assert elsewhere.tries == 0, "the message would be left behind, and the token taken along"


def test_by_severity_and_each_once(web: Web) -> None:
    now = NOW
    notifier = Notifier([WebhookChannel(web.url, severity=Urgency.WARNING)], repeat_s=100.0, clock=lambda: now)
    take_all(notifier, DECISION, result(Outcome.DONE), result(), result())
    now += 101
    take_all(notifier, result())
    notifier.close()
    assert [body["title"] for _, body in web.got] == ["restart job 1: failed"] * 2
    assert value(notifier.metrics.repeats) == 1


def test_one_message_states_the_verdict_once_it_has_settled(web: Web) -> None:
    notifier = Notifier([WebhookChannel(web.url)], clock=lambda: NOW, settle_s=0.2)
    first = failure(final=True, error_type=ErrorType.UNKNOWN, signature="exit_1", revision=1)
    take_all(notifier, first, failure(final=True, signature="xid_79", revision=2))
    until(lambda: len(web.got) == 1)
    other_job = failure(final=True, signature="xid_79", job="other")
    take_all(notifier, other_job, failure(final=True, signature="xid_79", attempt=1))
    notifier.close()
    assert [body["title"] for _, body in web.got] == [f"Job {first.job}: failed (xid 79)", "Job other: failed (xid 79)"]
    assert value(notifier.metrics.repeats) == 1, "the same cause on the next attempt of the job"


def test_a_failure_is_new_by_the_end_of_its_attempt(web: Web) -> None:
    notifier = Notifier([WebhookChannel(web.url)], clock=lambda: NOW + 3600, settle_s=0.0)
    hung = failure(final=True, signature="nccl_watchdog_timeout")
    end = JobEvent(id="end", job=hung.job, kind=EventKind.ENDED, time=NOW + 3600, exit_code=1)
    take_all(notifier, end, hung)
    notifier.close()
    assert len(web.got) == 1


def test_a_cancelled_job_is_no_failure(web: Web) -> None:
    notifier = Notifier([WebhookChannel(web.url)], clock=lambda: NOW, settle_s=0.0)
    one = failure(final=True, error_type=ErrorType.OTHER, signature="cancelled")
    end = JobEvent(id="end", job=one.job, kind=EventKind.ENDED, time=NOW, state="CANCELLED by 1000", scheduler="slurm")
    take_all(notifier, end, one)
    notifier.close()
    assert web.got == []


def test_one_channel_that_is_away_holds_up_nothing(web: Web) -> None:
    away = Web()
    away.status = 503
    notifier = Notifier([WebhookChannel(away.url), SlackChannel(web.url, Urgency.INFO)], clock=lambda: NOW)
    began = time.monotonic()
    take_all(notifier, result())
    assert time.monotonic() - began < 5
    until(lambda: len(web.got) == 1 and away.tries >= 2)
    assert notifier.problems() == ["webhook does not take messages"]
    away.status = 200
    until(lambda: len(away.got) == 1)
    notifier.close()
    assert notifier.problems() == []
    away.server.shutdown()
    away.server.server_close()


def test_a_server_that_speaks_no_http_is_away_and_its_secret_stays() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            peer, _ = listening.accept()
            with peer:
                peer.recv(65536)
                peer.sendall(b"220 mail ready\r\n")

        threading.Thread(target=answer, daemon=True).start()
        message = describe(result())
        assert message
        with pytest.raises(ChannelError, match="an HTTP answer") as caught:
            SlackChannel(f"http://127.0.0.1:{listening.getsockname()[1]}/hook/secret").send(message, "")
    assert "secret" not in str(caught.value)


def test_a_message_that_cannot_be_sent_does_not_end_the_channel() -> None:
    sent: list[str] = []

    class Once(Channel):
        name, severity = "webhook", Urgency.INFO

        @classmethod
        def from_settings(cls, settings: ChannelSettings) -> "Once":
            return cls()

        def send(self, message: Notification, user: str) -> None:
            if not sent:
                sent.append("")
                raise RuntimeError("nobody thought of this")
            sent.append(message.title)

    notifier = Notifier([Once()], clock=lambda: NOW)
    take_all(notifier, result(), result(Outcome.DONE))
    notifier.close()
    assert sent == ["", "restart job 1: done"]
    assert value(notifier.metrics.dropped, channel="webhook") == 1


def test_what_nobody_takes_in_time_is_dropped_and_counted() -> None:
    notifier = Notifier([WebhookChannel(f"http://127.0.0.1:{free_port()}/")], clock=lambda: NOW, give_up_s=0.3)
    take_all(notifier, result())
    until(lambda: value(notifier.metrics.dropped, channel="webhook") == 1)
    notifier.close()


def test_yesterday_wakes_nobody_up(web: Web) -> None:
    notifier = Notifier([WebhookChannel(web.url)], clock=lambda: NOW + 86400)
    take_all(notifier, result())
    notifier.close()
    assert web.got == []


@pytest.mark.parametrize(
    ("record", "severity"),
    [
        (result(Outcome.STARTED), None),
        (result(Outcome.SHADOWED), None),
        (result(Outcome.DONE), Urgency.INFO),
        (result(Outcome.UNVERIFIED), Urgency.CRITICAL),
        (failure(final=True), Urgency.WARNING),
        (failure(final=True, error_type=ErrorType.USER_SCRIPT), Urgency.INFO),
        (failure(), None),
        (failure(final=True, error_type=ErrorType.NONE), None),
        (
            Alarm(id="a", job="1", kind=AlarmKind.HANG, raised=True, time=NOW, since=NOW, detail="silent"),
            Urgency.WARNING,
        ),
        (Alarm(id="a", job="1", kind=AlarmKind.HANG, raised=False, time=NOW, since=NOW, detail="over"), None),
        (DECISION, None),
    ],
)
def test_what_is_worth_a_message(record: Record, severity: Urgency | None) -> None:
    message = describe(record)
    assert (message.severity if message else None) == severity


def test_an_error_does_not_tell_the_secret_part_of_an_address(web: Web) -> None:
    web.status = 500
    message = describe(result())
    assert message
    with pytest.raises(ChannelError) as caught:
        SlackChannel(web.url).send(message, "")
    assert "secret" not in str(caught.value)


NOTICE = Notification("k", Urgency.WARNING, "title", ("line",), (), {}, OWNER)


def test_a_webhook_over_tls_is_checked_against_the_authority(
    web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(str(authority.sign("hook", host="127.0.0.1").both))
    web.server.socket = context.wrap_socket(web.server.socket, server_side=True)
    channel = WebhookChannel(web.url.replace("http:", "https:"))
    with pytest.raises(ChannelError, match="certificate verify failed"):
        channel.send(NOTICE, "ada")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.cert))
    channel.send(NOTICE, "ada")
    assert [body["title"] for _, body in web.got] == ["title"]


@pytest.mark.parametrize("nodes", [["n1", "n2"], [f"n{each}" for each in range(1, 12)]])
def test_messages_name_the_job_its_user_and_its_nodes(web: Web, nodes: list[str]) -> None:
    notifier = Notifier({WebhookChannel(web.url): Urgency.INFO}, clock=lambda: NOW, settle_s=0.0)
    one = failure(final=True, signature="xid_79")
    start = msgspec.structs.replace(OWNER, job=one.job, name="llama-70b", nodes=nodes)
    alarm = Alarm(id="a", job=one.job, kind=AlarmKind.HANG, raised=True, time=NOW, since=NOW, detail="silent")
    take_all(notifier, start, alarm, result(job=one.job), one)
    notifier.close()
    assert len(web.got) == 3
    where = "user ada, on n1, n2" if len(nodes) == 2 else "user ada, on n1, n2, n3, n4, n5, n6, n7, n8 and 3 more"
    for _, body in web.got:
        assert f"{one.job} (llama-70b)" in body["title"]
        assert where in body["text"].splitlines()
        assert (body["labels"]["name"], body["labels"]["user"]) == ("llama-70b", "ada")
