"""`schedmate formats`: teaching a format, and formats that are stored in the cluster."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from processors.formats import KnownFormats
from schedmate.cli import app
from schedmate_records import KnownFormat, Position, decode
from sinks.clickhouse.writer import ClickHouseWriter
from streams.kafka import KafkaFollower, read_back
from streams.memory import MemoryBroker
from streams.runtimes.known_formats import TOPIC, FormatsFollower
from streams.transport import Outgoing, outgoing
from tests.schedmate.forked import run_forked
from tests.servers.kafka import Kafka
from tests.sinks.conftest import Embedded, embedded

__all__ = ["embedded"]

LINES = [f"zug {10 * at}.0 obj {3 / at:.4f} tick 200.0" for at in range(1, 60)]
"""A log whose names and numbers no rule knows: a tick is read as an epoch."""
DIALOGUE = ["yes", "training", "no", "step", "loss", "step_time", "ms", "1", "yes"]


def written(folder: Path) -> Path:
    log = folder / "train.log"
    log.write_text("\n".join(LINES) + "\n")
    return log


def progress_of(log: Path, *arguments: str) -> dict[str, object]:
    done = run_forked(*arguments, "analyze", "--json", log, env=os.environ | {"SCHEDMATE_CONFIG": os.devnull})
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)["progress"]
    return found


def test_taught_format_is_read_from_a_file(tmp_path: Path) -> None:
    log, known = written(tmp_path), tmp_path / "formats.jsonl"
    taught = run_forked(
        "formats", "teach", log, "--output", known, text="\n".join([*DIALOGUE, ""]).encode(),
        env=os.environ | {"SCHEDMATE_CONFIG": os.devnull}, timeout_s=120,
    )  # fmt: skip
    assert taught.returncode == 0, taught.stderr
    assert b"step 590" in taught.stdout, "it shows what it reads before it stores the format"
    assert progress_of(log)["step_time_s"] is None
    progress = progress_of(log, f"--set=processors.formats={known}")
    assert (progress["last_step"], progress["last_loss"], progress["step_time_s"]) == (590, 0.0508, 0.2)
    assert progress["epoch"] is None


def test_answer_of_a_model_is_corrected_in_the_dialogue(tmp_path: Path) -> None:
    log, known, folder = written(tmp_path), tmp_path / "formats.jsonl", tmp_path / "questions"
    quiet = os.environ | {"SCHEDMATE_CONFIG": os.devnull}
    assert run_forked("analyze", log, "--questions", folder, env=quiet).returncode == 0
    (question,) = folder.glob("format-*.question.json")
    wrong = [("step", "none"), ("loss", "none"), ("step_time", "s")]
    answer = {
        "training": "yes", "templates": [{"template": 1, "reports": "training"}],
        "columns": [{"column": at, "role": role, "unit": unit, "steps": 1} for at, (role, unit) in enumerate(wrong, start=1)],
    }  # fmt: skip
    (folder / question.name.replace(".question.", ".answer.")).write_text(json.dumps(answer))
    enter = ["", "", "no", "", "", "", "ms", "", ""]
    taught = run_forked(
        "formats", "teach", log, "--questions", folder, "--output", known, text="\n".join([*enter, ""]).encode(), env=quiet,
        timeout_s=120,
    )  # fmt: skip
    assert taught.returncode == 0, taught.stderr
    assert b"Starting from what file stated." in taught.stdout
    progress = progress_of(log, f"--set=processors.formats={known}")
    assert (progress["last_step"], progress["last_loss"], progress["step_time_s"]) == (590, 0.0508, 0.2)
    again = run_forked(
        f"--set=processors.formats={known}", "formats", "teach", log, "--output", tmp_path / "again.jsonl",
        text="\n".join([""] * 5).encode(), env=quiet, timeout_s=120,
    )  # fmt: skip
    assert b"tick 200.0  step time in ms" in again.stdout, "what was taught is offered"


def test_dialogue_that_ends_early_stores_nothing(tmp_path: Path) -> None:
    known = tmp_path / "formats.jsonl"
    ended = run_forked(
        "formats", "teach", written(tmp_path), "--output", known, text=b"yes\n",
        env=os.environ | {"SCHEDMATE_CONFIG": os.devnull}, timeout_s=120,
    )  # fmt: skip
    assert ended.returncode != 0
    assert not known.exists()


def test_file_that_is_no_file_of_formats_is_refused(tmp_path: Path) -> None:
    known = tmp_path / "formats.jsonl"
    known.write_text('{"fingerprint": 7}\n')
    done = run_forked(
        f"--set=processors.formats={known}",
        "analyze",
        written(tmp_path),
        env=os.environ | {"SCHEDMATE_CONFIG": os.devnull},
    )
    assert done.returncode == 2
    assert b"processors.formats" in done.stderr
    assert b"line 1" in done.stderr


def test_follower_passes_over_what_is_no_format() -> None:
    broker, known = MemoryBroker(partitions=2), KnownFormats()
    consumer = broker.consumer("x", (TOPIC,))
    follower = FormatsFollower(lambda: consumer.poll(0.0, 100), known)
    broker.append(Outgoing(TOPIC, b"x", b"nonsense"))
    broker.append(outgoing(KnownFormat(id="a", fingerprint="f", time=1.0)))
    assert follower.look()
    assert [each.fingerprint for each in known.records()] == ["f"]


@pytest.mark.kafka
def test_formats_are_taught_listed_exchanged_and_withdrawn(
    own_kafka: Kafka, embedded: Embedded, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SCHEDMATE_CONFIG", os.devnull)
    monkeypatch.setenv("SCHEDMATE_KAFKA__BROKERS", own_kafka.address)
    monkeypatch.setenv("SCHEDMATE_CLICKHOUSE__URL", embedded.url)
    writer, stored, known = ClickHouseWriter(embedded.connect), 0, KnownFormats()
    follower = FormatsFollower(KafkaFollower(own_kafka.connection, [TOPIC]).new, known)

    def run(*arguments: str, text: str = "") -> Result:
        done = CliRunner().invoke(app, arguments, input=text)
        assert done.exit_code == 0, (done.output, done.exception)
        return done

    def sink() -> None:
        nonlocal stored
        new = [decode(KnownFormat, each.value) for each in read_back(own_kafka.connection, [TOPIC])][stored:]
        writer.write([(Position(TOPIC, 0, stored + at), record) for at, record in enumerate(new)])
        stored += len(new)
        follower.look()

    run("formats", "teach", str(written(tmp_path)), text="\n".join([*DIALOGUE, ""]))
    sink()
    (taught,) = known.records()
    assert taught.person
    assert taught.fingerprint[:12] in run("formats", "list").output
    shown = run("formats", "show", taught.fingerprint[:6]).output
    assert "number 3: step_time in ms" in shown
    again = run("formats", "teach", str(tmp_path / "train.log"), text="\n" * 5).output
    assert "tick 200.0  step time in ms" in again, "the stored format is offered"
    sink()
    file = tmp_path / "formats.jsonl"
    assert "1 format" in run("formats", "export", str(file)).output
    run("formats", "forget", taught.fingerprint[:6])
    sink()
    assert known.records() == []
    assert "no rows" in run("formats", "list").output
    run("formats", "import", str(file))
    sink()
    assert [each.templates for each in known.records()] == [taught.templates]
    writer.close()
