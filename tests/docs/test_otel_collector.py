"""docs/shipping.md: an OpenTelemetry collector runs by the configuration that is shown, and each line is compared with what was written."""

import json
import os
import random
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from schedmate_records import LogChunk
from streams.kafka import read_back
from streams.otlp import is_otlp, split
from streams.transport import TransportError
from tests.servers.collector import Collector, collector
from tests.servers.kafka import Kafka

from .pages import ROOT, blocks

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

TEXT = (ROOT / "docs" / "shipping.md").read_text()
SECTION = TEXT[TEXT.index("## OpenTelemetry collector") :]
SHOWN = [yaml.safe_load(block) for block in blocks(SECTION) if block.startswith(("receivers:", "operators:"))]
[OPTION] = re.findall(r"`(--feature-gates=\S+)`", SECTION)
BANNER = [
    f"{number:4} library {number * 7919 % 1000} is loaded from /opt/site-packages/library_{number}"
    for number in range(60)
]
"""More than 1000 bytes with which every job of one script begins."""
TRACEBACK = [
    "Traceback (most recent call last):",
    '  File "/home/ada/train.py", line 9, in <module>',
    "    loss.backward()",
    '\t\x1b[31mRuntimeError\x1b[0m: CUDA error: \\ "x" ü 漢字',
]


class Site:
    """Log files of jobs, and what Kafka holds of their lines."""

    def __init__(self, kafka: Kafka, directory: Path) -> None:
        self.kafka = kafka
        self.home = directory / "home" / "ada"
        self.home.mkdir(parents=True)
        (directory / "state").mkdir()
        self._since = time.time()

    def file(self, job: str) -> Path:
        return self.home / f"slurm-{job}.out"

    def write(self, job: str, lines: list[str], stream: str = "out") -> None:
        with (self.home / f"slurm-{job}.{stream}").open("a") as file:
            file.write("".join(f"{line}\n" for line in lines))

    def chunks(self, job: str) -> list[LogChunk]:
        """Return what Kafka holds of the job now."""
        held = (
            message for message in read_back(self.kafka.connection, ["job-logs"], self._since) if is_otlp(message.value)
        )
        return [chunk for message in held for chunk in split(message).chunks if chunk.job == job]

    def lines(self, job: str, stream: str = "stdout") -> list[str]:
        return [line for chunk in self.chunks(job) if chunk.stream == stream for line in chunk.lines]

    def wait_for(self, job: str, expected: list[str], stream: str = "stdout") -> None:
        """Wait until exactly the `expected` lines of the job are there, in order."""
        until(lambda: len(self.lines(job, stream)) >= len(expected), f"{len(expected)} lines of {job}")
        assert self.lines(job, stream) == expected


def until(reached: Callable[[], bool], what: str, deadline_s: float = 120.0) -> None:
    """Wait until `reached`; a broker that does not answer in time is asked again."""
    deadline = time.monotonic() + deadline_s
    while True:
        with suppress(TransportError):
            if reached():
                return
        assert time.monotonic() < deadline, f"expected: {what}"
        time.sleep(0.5)


@contextmanager
def shipping(
    site: Site, *, exporter: dict[str, Any] | None = None, receiver: dict[str, Any] | None = None
) -> Iterator[Collector]:
    """Run the documented configuration on the site's files, with these settings changed."""
    root = site.home.parents[1]
    text = json.dumps(SHOWN[0]).replace("/home/", f"{root}/home/").replace("/var/lib/otelcol", f"{root}/state")
    configuration = json.loads(text.replace("localhost:9092", site.kafka.address))
    configuration["exporters"]["kafka"] |= exporter or {}
    configuration["receivers"]["file_log"] |= receiver or {}
    configuration["service"]["telemetry"] = {"metrics": {"level": "none"}}
    with collector(yaml.safe_dump(configuration), root, OPTION) as running:
        yield running


@pytest.fixture
def site(kafka: Kafka, tmp_path: Path) -> Site:
    return Site(kafka, tmp_path)


@pytest.fixture
def job() -> str:
    """An id that no other test uses."""
    return str(random.SystemRandom().randrange(10**8, 10**9))


SENT = {
    "as documented": {},
    "gzip and protobuf": {"logs": {"topic": "job-logs", "encoding": "otlp_proto"}, "producer": {"compression": "gzip"}},
    "zstd and headers": {
        "producer": {"compression": "zstd"},
        "record_headers": [{"name": "team", "value": "ml"}],
        "signal_header": True,
    },
    "uncompressed": {"producer": {"compression": "none"}},
}


@pytest.mark.parametrize("exporter", SENT.values(), ids=SENT)
def test_every_line_arrives_once_and_in_order(exporter: dict[str, Any], site: Site, job: str) -> None:
    if "zstd" in str(exporter):
        pytest.importorskip("zstandard")
    wide = [f"{number} {'x' * 20_000}" for number in range(120)]
    written = [*BANNER, *TRACEBACK, *wide, *(f"step {step} | loss {2 / step:.6f}" for step in range(1, 20001)), "last"]
    site.write(job, written)
    site.write(job, TRACEBACK, "err")
    (site.home / "slurm-notes.out").write_text("of no job\n")
    with shipping(site, exporter=exporter):
        site.wait_for(job, written)
        site.wait_for(job, TRACEBACK, "stderr")
    chunks = site.chunks(job)
    assert {(chunk.node, chunk.attempt, chunk.rank) for chunk in chunks} == {("n1", 0, 0)}
    assert all(abs(chunk.time - time.time()) < 3600 for chunk in chunks)


def test_long_blank_redrawn_unfinished_and_undecodable_lines(site: Site, job: str) -> None:
    long = "".join(f"{number:07}\x1b" for number in range(30_000))
    with site.file(job).open("wb") as file:
        file.write(b"one\n\n   \n" + long.encode() + b"\n\xff\xfe latin\n\0\0null\r\n\r 10%\r 20%\nunfinished")
        file.flush()
        with shipping(site):
            until(lambda: "unfinished" in site.lines(job), "the unfinished line")
    lines = site.lines(job)
    parts = [line for line in lines if len(line) > 1000]
    assert (lines[0], "".join(parts)) == ("one", long)
    others = ["", "   ", "\ufffd\ufffd latin", "\0\0null", " 10%\r", " 20%", "unfinished"]
    assert [line for line in lines[1:] if line not in parts] == others


def test_a_line_that_is_written_in_parts_stays_one(site: Site, job: str) -> None:
    with shipping(site), site.file(job).open("w") as file:
        file.write("first\nsaving checkpoint ...")
        file.flush()
        site.wait_for(job, ["first"])
        time.sleep(1.5)  # three times the receiver's default
        file.write(" done\nlast\n")
        file.flush()
        site.wait_for(job, ["first", "saving checkpoint ... done", "last"])


def test_records_of_several_lines_give_the_same_lines(site: Site, job: str) -> None:
    written = ["step 1", *TRACEBACK, "step 2", *TRACEBACK, "", "step 3"]
    site.write(job, written)
    with shipping(site, receiver={"multiline": {"line_start_pattern": r"^\S"}, "force_flush_period": "500ms"}):
        site.wait_for(job, written)


def test_jobs_with_the_same_first_lines_are_kept_apart(site: Site, job: str) -> None:
    others = [f"{job}{place}" for place in range(1, 4)]
    with shipping(site):
        for each in others:
            site.write(each, BANNER)
            time.sleep(0.5)
        for each in others:
            site.write(each, [f"step 1 of {each}"])
        for each in others:
            site.wait_for(each, [*BANNER, f"step 1 of {each}"])


@pytest.mark.parametrize("how", ["rename", "copy and truncate"])
@pytest.mark.parametrize("running", [True, False], ids=["running", "stopped"])
def test_rotation_loses_no_line_and_repeats_none(how: str, running: bool, site: Site, job: str) -> None:
    first = [f"old {number} {os.urandom(8).hex()}" for number in range(3000)]
    second = [f"new {number} {os.urandom(8).hex()}" for number in range(2000)]
    file = site.file(job)
    with shipping(site) as agent:
        site.write(job, first[:1500])
        site.wait_for(job, first[:1500])
        if not running:
            agent.stop()
        site.write(job, first[1500:])
        if how == "rename":
            file.rename(file.with_suffix(".out.1"))
            site.write(job, second)
        else:
            if running:  # what is truncated before it was read is lost
                site.wait_for(job, first)
            shutil.copy(file, file.with_suffix(".out.1"))
            file.write_text("")
            site.write(job, second)
        if not running:
            agent.start()
        until(lambda: len(site.lines(job)) >= 5000, "all lines")
    lines = site.lines(job)
    assert sorted(lines) == sorted(first + second)
    assert [line for line in lines if line in set(first)] == first
    assert [line for line in lines if line in set(second)] == second


def test_file_that_is_written_anew_is_read_from_its_beginning(site: Site, job: str) -> None:
    same = BANNER * 5  # longer than the fingerprint
    first = [*same, *(f"step {step} of the first run" for step in range(100))]
    second = [*same, *(f"step {step} of the second run" for step in range(10))]
    with shipping(site):
        site.write(job, first)
        site.wait_for(job, first)
        site.file(job).write_text("".join(f"{line}\n" for line in second))
        site.wait_for(job, first + second)


@pytest.fixture
def own_site(own_kafka: Kafka, tmp_path: Path) -> Site:
    return Site(own_kafka, tmp_path)


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_nothing_is_lost_while_the_broker_is_away_and_the_collector_ends(end: str, own_site: Site, job: str) -> None:
    site, written = own_site, []
    with shipping(site) as agent:
        for turn in range(6):
            lines = [f"{turn}-{number} {'.' * 60}" for number in range(3000)]
            site.write(job, lines)
            written += lines
            if turn == 1:
                site.kafka.kill()
            elif turn in (2, 4):
                time.sleep(random.random())
                agent.kill() if end == "kill" else agent.stop()
                agent.start()
            elif turn == 3:
                site.kafka.start()
        until(lambda: set(site.lines(job)) >= set(written), "all lines")
        agent.stop()
    lines = site.lines(job)
    assert list(dict.fromkeys(lines)) == written
    assert len(lines) - len(written) < len(written) / 2, "a kill repeats some lines"


def test_nothing_is_lost_when_the_collector_is_killed_while_a_job_prints(site: Site, job: str) -> None:
    written = [f"step {step}" for step in range(400)]
    with shipping(site) as agent:
        for step, line in enumerate(written):
            site.write(job, [line])
            time.sleep(0.01)
            if step % 80 == 60:
                agent.kill()
                agent.start()
        until(lambda: set(site.lines(job)) >= set(written), "all lines")
    assert list(dict.fromkeys(site.lines(job))) == written


@pytest.mark.parametrize("runtime", ["containerd", "docker"])
def test_lines_of_containers_belong_to_the_job_of_their_pod(runtime: str, site: Site, job: str) -> None:
    operators = SHOWN[1]["operators"]
    pod = site.home / "pods" / f"team_train-{job}-3-x7k2p_0123-uid" / "main"
    pod.mkdir(parents=True)
    long = "".join(f"{number:07}" for number in range(5000))
    parts = [long[at : at + 16384] for at in range(0, len(long), 16384)]
    entries = [("stdout", part, place == len(parts) - 1) for place, part in enumerate(parts)]
    entries = [("stdout", "step 1", True), ("stderr", TRACEBACK[1], True), *entries, ("stdout", "  step 2", True)]
    with (pod / "0.log").open("w") as file:
        for second, (stream, text, whole) in enumerate(entries):
            at = f"2026-11-27T10:00:{second:02}.123456789Z"
            if runtime == "containerd":
                file.write(f"{at} {stream} {'F' if whole else 'P'} {text}\n")
            else:
                file.write(json.dumps({"log": text + "\n" * whole, "stream": stream, "time": at}) + "\n")
    name = f"team/train-{job}"
    with shipping(
        site, receiver={"include": [f"{site.home}/pods/*/*/*.log*"], "operators": operators, "multiline": {}}
    ):
        # The collector joins the parts that containerd writes, and not Docker's. A chunk cuts the joined line after 32 KB.
        cut = [long[:32768], long[32768:]] if runtime == "containerd" else parts
        site.wait_for(name, ["step 1", *cut, "  step 2"])
        site.wait_for(name, [TRACEBACK[1]], "stderr")
    chunks = site.chunks(name)
    assert {chunk.rank for chunk in chunks} == {3}
    assert min(chunk.time for chunk in chunks) == pytest.approx(1795773600.123, abs=0.01)
