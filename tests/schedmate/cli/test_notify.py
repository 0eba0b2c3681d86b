"""`schedmate notify`: which channels the settings name, and the command between a real Kafka and a real HTTP server."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schedmate.cli.notify import channels
from schedmate.notifications.urgency import Urgency
from schedmate.settings.settings import NotifySection, SettingsError
from streams.kafka import KafkaProducer
from streams.transport import outgoing
from tests.schedmate.notifications.test_notifier import DECISION, Web, result
from tests.servers.kafka import Kafka


def test_each_channel_with_its_severity(tmp_path: Path) -> None:
    secret = tmp_path / "slack"
    secret.write_text("https://hooks.example.org/T/B/x\n")
    found = channels(NotifySection(webhook="https://a.example.org", slack_file=secret, smtp="mail:25"))
    assert {channel.name: least for channel, least in found.items()} == {
        "webhook": Urgency.INFO,
        "slack": Urgency.WARNING,
        "email": Urgency.CRITICAL,
    }


def test_nobody_to_tell_and_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no receiver"):
        channels(NotifySection())
    with pytest.raises(SettingsError, match="readable file"):
        channels(NotifySection(slack_file=tmp_path / "none"))


@pytest.mark.kafka
def test_what_becomes_of_a_decision_is_told(kafka: Kafka) -> None:
    web, producer = Web(), KafkaProducer(kafka.connection)
    environment = os.environ | {
        "SCHEDMATE_CONFIG": os.devnull,
        "SCHEDMATE_KAFKA__BROKERS": kafka.address,
        "SCHEDMATE_NOTIFY__WEBHOOK": web.url,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "schedmate", "notify"], env=environment, stderr=subprocess.DEVNULL
    )
    try:
        now = time.time()
        producer.send(outgoing(DECISION)).result(30)
        told = result(time=now)
        deadline = time.monotonic() + 60
        producer.send(outgoing(told)).result(30)
        mine: list[str] = []
        while "restart job 1: failed" not in mine:
            assert time.monotonic() < deadline, mine
            time.sleep(0.05)
            mine = [body["title"] for _, body in web.got]
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        producer.close()
        web.server.shutdown()
        web.server.server_close()
