"""`schedmate notify`: the channels that the settings configure, and the command between a real Kafka and a real HTTP server."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schedmate.notifications.urgency import Urgency
from schedmate.plugins.channels import open_channels
from schedmate.settings.settings import NotifySection, PluginSections, SettingsError
from streams.kafka import KafkaProducer
from streams.transport import outgoing
from tests.schedmate.notifications.test_notifier import DECISION, Web, result
from tests.servers.kafka import Kafka


def test_each_channel_with_its_severity(tmp_path: Path) -> None:
    secret = tmp_path / "slack"
    secret.write_text("https://hooks.example.org/T/B/x\n")
    found = open_channels(
        NotifySection(webhook="https://a.example.org", slack_file=secret, smtp="mail:25"), PluginSections()
    )
    assert {channel.name: channel.severity for channel in found} == {
        "webhook": Urgency.INFO,
        "slack": Urgency.WARNING,
        "email": Urgency.CRITICAL,
    }


def test_no_channel_and_an_unreadable_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="expected a receiver"):
        open_channels(NotifySection(), PluginSections())
    with pytest.raises(SettingsError, match="readable file"):
        open_channels(NotifySection(slack_file=tmp_path / "none"), PluginSections())


@pytest.mark.kafka
def test_result_of_a_decision_is_sent(kafka: Kafka) -> None:
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
