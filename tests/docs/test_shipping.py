"""docs/shipping.md: environment variables, and what Vector and Fluent Bit would send by the configuration that is shown."""

import json
import re
from typing import Any

import pytest
import yaml

from schedmate_records import LogChunk, Position
from streams.accept import accept
from streams.producers.environment import identify
from streams.producers.paths import JobPattern
from streams.transport import Message

from .pages import ROOT, blocks, command_lines

PAGE = ROOT / "docs" / "shipping.md"
TEXT = PAGE.read_text()
CONFIGURATIONS = [yaml.safe_load(block) for block in blocks(TEXT) if re.match(r"sources:|parsers:", block)]


def _row(name: str) -> list[str]:
    (row,) = re.findall(rf"^\| {name} \| `--{name}` \| (.+?) \|", TEXT, re.MULTILINE)
    return re.findall(r"`([A-Z_]{4,})`", row)


@pytest.mark.parametrize("name", ["attempt", "rank"])
def test_numbers_come_from_the_variables_that_are_named(name: str) -> None:
    variables = _row(name)
    assert variables
    for variable in variables:
        found = identify({variable: "3"}, job="1", hostname=lambda: "h")
        assert getattr(found, name) == 3, variable
    # The first that is set wins.
    inside = {"SLURM_JOB_ID": "1"} if name == "attempt" else {}
    everything = {variable: str(number) for number, variable in enumerate(variables)} | inside
    assert getattr(identify(everything, job="1", hostname=lambda: "h"), name) == 0


def test_job_and_node_come_from_the_variables_that_are_named() -> None:
    for variable in set(_row("job")) - {"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID", "RAY_JOB_CONFIG_JSON_ENV_VAR"}:
        assert identify({variable: "x7"}, hostname=lambda: "h").job == "x7", variable
    assert identify({"SLURM_ARRAY_JOB_ID": "4711", "SLURM_ARRAY_TASK_ID": "3", "SLURM_JOB_ID": "9"}).job == "4711_3"
    ray = json.dumps({"metadata": {"job_submission_id": "raysubmit_7"}})
    assert identify({"RAY_JOB_CONFIG_JSON_ENV_VAR": ray}).job == "raysubmit_7"
    assert _row("node") == ["SLURMD_NODENAME"]
    assert identify({"SLURMD_NODENAME": "n3"}, job="1").node == "n3"
    assert identify({}, job="1", hostname=lambda: "n4.cluster").node == "n4"


@pytest.mark.parametrize(
    ("path", "whose"),
    [
        ("/logs/4711/rank3.err", ("4711", 3, "stderr", "here")),
        ("logs/n7/slurm-4711.out", ("4711", 0, "stdout", "n7")),
    ],
)
def test_the_patterns_that_are_shown_fit_their_files(path: str, whose: tuple[str, int, str, str]) -> None:
    patterns = {
        line.words[line.words.index("--pattern") + 1] for line in command_lines(PAGE) if "--pattern" in line.words
    }
    patterns |= set(re.findall(r"'([^'\n]*\(\?P<job>[^'\n]*)'", TEXT))
    found = [chunk for pattern in patterns if (chunk := JobPattern(pattern).read(path, "here"))]
    assert whose in [(chunk.job, chunk.rank, chunk.stream, chunk.node) for chunk in found]


def _taken(value: dict[str, Any], key: str) -> LogChunk:
    record = accept(Message(Position("job-logs", 0, 0), key.encode(), json.dumps(value).encode(), 5.0))
    assert isinstance(record, LogChunk)
    return record


def test_what_vector_would_send_is_a_line_of_its_job() -> None:
    vector, _ = CONFIGURATIONS
    (sink,) = vector["sinks"].values()
    assert (sink["type"], sink["topic"], sink["librdkafka_options"]) == (
        "kafka",
        "job-logs",
        {"partitioner": "murmur2_random"},
    )
    (transform,) = vector["transforms"].values()
    pattern = re.search(r"r'(.+)'", transform["source"])
    assert pattern
    found = re.search(pattern[1], "/home/ada/slurm-4711.err")
    assert found
    # The fields of Vector's source `file`, beside those that the transform sets.
    event = {"file": "/home/ada/slurm-4711.err", "host": "n1", "message": "step 10", "source_type": "file"}
    event |= {"timestamp": "2026-11-21T18:00:00.123456789Z", "job": found["job"], "stream": "stderr"}
    chunk = _taken(event, event[sink["key_field"]])
    assert (chunk.job, chunk.node, chunk.stream, chunk.lines) == ("4711", "n1", "stderr", ["step 10"])
    assert chunk.time == pytest.approx(1795284000.123456)


def test_what_fluent_bit_would_send_is_a_line_of_its_job() -> None:
    _, fluent = CONFIGURATIONS
    (output,) = fluent["pipeline"]["outputs"]
    assert (output["name"], output["topics"], output["rdkafka.partitioner"]) == ("kafka", "job-logs", "murmur2_random")
    (parser,) = fluent["parsers"]
    assert fluent["pipeline"]["filters"][0]["parser"] == parser["name"]
    path = "/home/ada/slurm-4711.out"
    found = re.search(parser["regex"].replace("(?<", "(?P<"), path)
    assert found
    # The fields of Fluent Bit's input `tail`, and those that the filters and the output add.
    event = {"log": "step 20", fluent["pipeline"]["inputs"][0]["path_key"]: path, "job": found["job"], "host": "n1"}
    event |= {output["timestamp_key"]: 1795284000.5}
    chunk = _taken(event, event[output["message_key_field"]])
    assert (chunk.job, chunk.node, chunk.lines, chunk.time) == ("4711", "n1", ["step 20"], 1795284000.5)
