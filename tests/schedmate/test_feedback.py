"""A person corrects a verdict; their word is stored, shown, and made into a signature."""

import os
import time
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from processors.diagnose import load
from processors.settings import ProcessorSettings
from schedmate.analysis.proposal import NoProposal, fire, pattern_of
from schedmate.assembly import failure_table
from schedmate.cli import app
from schedmate_records import BY_NAME, Failure, Feedback, JobEvent, LogChunk, Opinion, Position, decode
from sinks.clickhouse.writer import ClickHouseWriter
from sinks.redis.changes import changes
from streams.kafka import KafkaProducer, read_back
from streams.transport import outgoing
from tests.servers.kafka import Kafka
from tests.sinks.conftest import Embedded, embedded

__all__ = ["embedded"]

LINE = "2026-11-22 10:00:00 ERROR coolant pump 7 lost at 0x3bf0 in /srv/rack12"


def test_a_pattern_keeps_what_lines_of_a_kind_share() -> None:
    pattern = pattern_of(LINE)
    lines = ["coolant pump 12 lost at 0xaf in /srv/rack3/b", "coolant pump found", "step 5 loss 2.0"]
    chunk = LogChunk(job="1", lines=lines, time=0.0)
    fired = fire(pattern, [chunk, LogChunk(job="2", lines=lines, time=0.0)], {"1": True})
    assert (fired.lines, fired.read, fired.well, fired.unknown) == (2, 6, {"1"}, {"2"})
    assert fired.against == lines[:1]
    assert pattern_of(r"cost (a+)+$ [x] \d* of 5") == r"cost\ \(a\+\)\+\$\ \[x\]\ \\d\*\ of\ \d+"
    with pytest.raises(NoProposal, match="8 letters"):
        pattern_of("12 / 4711")


def test_the_newest_word_stands_in_the_state_of_a_job() -> None:
    said = Feedback(id="f", job="1", attempt=2, time=5.0, user="ada", cause="pump_lost", line=LINE)
    (change,) = changes(Position("feedback", 0, 0), said)
    assert change.fields["feedback_cause"] == "pump_lost"
    assert change.fields["feedback_user"] == "ada"


@pytest.mark.kafka
def test_from_a_persons_word_to_a_signature(
    own_kafka: Kafka, embedded: Embedded, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SCHEDMATE_CONFIG", os.devnull)
    monkeypatch.setenv("SCHEDMATE_KAFKA__BROKERS", own_kafka.address)
    monkeypatch.setenv("SCHEDMATE_CLICKHOUSE__URL", embedded.url)
    writer, now = ClickHouseWriter(embedded.connect), time.time()

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, arguments)

    ended = [
        JobEvent(id=f"{job}/{kind}", job=job, kind=kind, time=now - before, state=state)
        for job, state in {"7": "FAILED", "8": "FAILED", "9": "COMPLETED"}.items()
        for kind, before in (("started", 100), ("ended", 50))
    ]  # fmt: skip
    wrong = Failure(id="v", job="7", time=now, message="?", error_type="unknown", signature="worker_killed")
    writer.write([(Position("t", 0, at), record) for at, record in enumerate([*ended, wrong])])
    producer = KafkaProducer(own_kafka.connection)
    for job, line in (("7", LINE), ("8", LINE.replace("7", "9")), ("9", "coolant pump 3 found")):
        producer.send(outgoing(LogChunk(job=job, lines=["step 1", line], time=now))).result(10)
    producer.close()

    wants = ["feedback", "7", "--cause", "Pump lost", "--line", LINE, "--error-type", "infrastructure"]
    assert "expected --component" in str(run(*wants).exception)
    told = run(*wants, "--component", "node", "--comment", "Mend the pump.")
    assert told.exit_code == 0, told.output
    assert "the verdict was worker_killed" in told.output
    (record,) = [
        decode(BY_NAME["feedback"].record, each.value) for each in read_back(own_kafka.connection, ["feedback"])
    ]
    assert isinstance(record, Feedback)
    assert (record.job, record.verdict_id, record.line) == ("7", "v", LINE)
    writer.write([(Position("feedback", 0, 0), record)])
    writer.close()

    page = run("explain", "7")
    assert "the cause was Pump lost, infrastructure (node): Mend the pump." in page.output
    assert LINE in page.output
    proposed = run("signatures", "propose")
    assert proposed.exit_code == 0, proposed.output
    assert "It would have fired in 2 of 6 lines: in 2 jobs that failed, 0 that ended well" in proposed.output
    (entry,) = tomllib.loads(proposed.output)["signature"]
    assert (entry["name"], entry["kind"], entry["component"], entry["confidence"]) == (
        "pump_lost",
        "node",
        "node",
        0.75,
    )
    mine = tmp_path / "mine.toml"
    mine.write_text(proposed.output)
    assert "pump_lost" in {one.name for one in load([mine])}
    monkeypatch.setenv("SCHEDMATE_PROCESSORS__SIGNATURES", str(mine))
    log = tmp_path / "train.log"
    log.write_text(LINE.replace("7", "31") + "\n")
    assert "pump_lost" in run("signatures", "test", str(log)).output


def test_corrections_change_who_decides(embedded: Embedded, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SCHEDMATE_CONFIG", os.devnull)
    monkeypatch.setenv("SCHEDMATE_CLICKHOUSE__URL", embedded.url)
    opinions = [
        Opinion(by="rules", error_type="user_script", confidence=0.75),
        Opinion(by="some-model", error_type="framework", confidence=0.9),
    ]
    writer = ClickHouseWriter(embedded.connect)

    def correct(job: str) -> None:
        wrong = Failure(id=f"v{job}", job=job, time=5.0, message="?", error_type="user_script", opinions=opinions)
        word = Feedback(
            id=f"f{job}",
            job=job,
            time=6.0,
            user="ada",
            cause="x",
            line="x",
            error_type="framework",
            verdict_id=wrong.id,
        )
        writer.write([(Position("t", 0, int(job)), wrong), (Position("feedback", 0, int(job)), word)])

    def corrected() -> dict[str, dict[str, dict[str, object]]]:
        printed = CliRunner().invoke(app, ["models", "table"])
        assert printed.exit_code == 0, printed.output
        return tomllib.loads(printed.output)

    for job in ("1", "2"):
        correct(job)
    assert corrected()["likely"]["high"]["cause"] == "rules"
    correct("3")
    row = corrected()["likely"]["high"]
    assert (row["cause"], row["cases"], row["rules_right"], row["model_right"]) == ("model", 52, 48, 52)
    assert corrected()["likely"]["low"]["cause"] == "rules"
    file = tmp_path / "table.toml"
    file.write_text(CliRunner().invoke(app, ["models", "table"]).output)
    assert failure_table(ProcessorSettings(failure_table=str(file)))["likely"]["high"].cause == "model"
    writer.close()
