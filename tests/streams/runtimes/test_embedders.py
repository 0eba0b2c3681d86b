"""Every embedder inside a worker on a real Kafka: its word reaches a verdict, and a worker whose embedder is away goes on without it."""

import base64
import functools
import json
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from processors.classify.embedded import shipped
from processors.classify.fallback import ModelClassifier
from processors.classify.linear import LETTERS
from processors.grammar.extractor import templates
from schedmate_records import EventKind, Failure, JobEvent, JobMetric, decode
from streams.kafka import read_back
from streams.model_worker.served_embedder import BATCH, LONGEST
from tests.servers import free_port
from tests.servers.flag import FlagEnvironment
from tests.servers.kafka import Kafka
from tests.servers.vllm import VllmServer
from tests.streams.model_worker import misbehaving_server as server_that

from .workers import chunk, command, send, until

pytestmark = [pytest.mark.kafka, pytest.mark.slow, pytest.mark.timeout(600)]

PATIENCE_S = 240.0
"""Seconds for a model to be loaded, and the examples to be embedded, on a busy machine."""
OPEN = [
    "the kraken took node 3 away",
    "a leviathan swallowed node 3",
    "the hydra bit rank 2",
    "a siren lured rank 2 off",
]
"""What no signature knows and n-grams leave open."""
ERROR = LETTERS.index("e")


@functools.cache
def classes() -> dict[str, int]:
    """The classes of the examples that ship, by what is sent of them."""
    return {each.template[:LONGEST]: LETTERS.index(each.letter) for each in shipped()}


def knowing(exchange: server_that.Exchange) -> None:
    """Embed as a model would that knows the classes: a direction a class; what is open is near the errors."""
    rows = []
    for place, text in enumerate(exchange.asked["input"]):
        vector = np.eye(len(LETTERS), dtype="<f4")[classes().get(text, ERROR)]
        rows.append({"index": place, "embedding": base64.b64encode(vector.tobytes()).decode()})
    exchange.say(200, json.dumps({"data": rows}))


class Worker:
    """A worker with an embedder, and what it has said."""

    def __init__(self, broker: Kafka, log: Path, port: int) -> None:
        self._broker, self._log, self._port = broker, log, port
        self._jobs = 0

    def fails_with(self, line: str) -> Failure:
        """Run a job that trains, prints `line` and fails; return the verdict on it."""
        self._jobs += 1
        job = f"job-{self._jobs}"
        steps = [f"step {step}/100 | loss {10 / step:.4f} | step_time 0.25 s" for step in range(1, 20)]
        send(self._broker, [chunk(job, 0, [*steps, line], 20)])
        self.wait(lambda: any(decode(JobMetric, each).job == job for each in self._values("job-metrics")))
        send(self._broker, [JobEvent(id=job, job=job, kind=EventKind.ENDED, time=5000.0, exit_code=1, state="FAILED")])
        self.wait(lambda: bool(self._verdicts(job)))
        return self._verdicts(job)[-1]

    def counted(self, which: str) -> float:
        """Return how many templates were judged `with` or `without` the embedder."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/metrics", timeout=10) as answer:
            families = text_string_to_metric_families(answer.read().decode())
        name = f"schedmate_classifier_{which}_embedder"
        return next(sample.value for family in families if family.name == name for sample in family.samples)

    def wait(self, condition: Callable[[], bool]) -> None:
        until(condition, self._log, PATIENCE_S)

    def _values(self, topic: str) -> Iterator[bytes]:
        return (message.value for message in read_back(self._broker.connection, [topic]))

    def _verdicts(self, job: str) -> list[Failure]:
        found = [decode(Failure, each) for each in self._values("failures")]
        return [each for each in found if each.job == job and each.final]


@contextmanager
def working(
    broker: Kafka, tmp_path: Path, embedder: str, *, model: str = "", url: str = "", python: str = sys.executable
) -> Iterator[Worker]:
    """Run a worker with that embedder until the block ends."""
    log, port = tmp_path / "worker.log", free_port()
    settings = {"EMBEDDER": embedder, "EMBEDDER_MODEL": model, "EMBEDDER_URL": url}
    environment = {f"SCHEDMATE_PROCESSORS__{name}": value for name, value in settings.items()}
    with command(broker, "worker", log=log, python=python, SCHEDMATE_SERVICE__PORT=str(port), **environment):
        yield Worker(broker, log, port)


def root(verdict: Failure) -> str:
    return verdict.root.text if verdict.root else ""


def test_n_grams_leave_these_lines_open() -> None:
    assert ModelClassifier().classify(templates(OPEN)) == "o" * len(OPEN)


def test_a_served_embedder_decides_and_may_go_away_and_come_back(own_kafka: Kafka, tmp_path: Path) -> None:
    """Once it breaks connections off, once it accepts them and says nothing: verdicts come all the same, by n-grams."""
    breaks, sleeps = threading.Event(), threading.Event()

    def moody(exchange: server_that.Exchange) -> None:
        behave = server_that.hangs_up if breaks.is_set() else server_that.silent if sleeps.is_set() else knowing
        behave(exchange)

    with (
        server_that.misbehaving(moody) as server,
        working(own_kafka, tmp_path, "http", url=server.url, model="m") as worker,
    ):
        assert root(worker.fails_with(OPEN[0])) == OPEN[0]
        assert server.requests[-1]["input"] == templates(OPEN[:1]), "after the examples, the line's template alone"
        judged = worker.counted("with")
        assert (judged, worker.counted("without")) == (1, 0)
        for times, mood in enumerate((breaks, sleeps), start=1):
            mood.set()
            assert root(worker.fails_with(OPEN[times])) != OPEN[times]
            assert (worker.counted("with"), worker.counted("without")) == (judged, times)
            mood.clear()
        assert root(worker.fails_with(OPEN[3])) == OPEN[3]
        assert (worker.counted("with"), worker.counted("without")) == (judged + 1, 2)


def test_a_worker_starts_without_its_server_and_takes_it_up(own_kafka: Kafka, tmp_path: Path) -> None:
    up = threading.Event()

    def behave(exchange: server_that.Exchange) -> None:
        (knowing if up.is_set() else server_that.hangs_up)(exchange)

    with (
        server_that.misbehaving(behave) as server,
        working(own_kafka, tmp_path, "http", url=server.url, model="m") as worker,
    ):
        assert root(worker.fails_with(OPEN[0])) != OPEN[0]
        up.set()
        assert root(worker.fails_with(OPEN[1])) == OPEN[1]
        assert (worker.counted("with"), worker.counted("without")) == (1, 1)
        assert max(len(each["input"]) for each in server.requests) == BATCH


def test_minilm_in_the_worker(own_kafka: Kafka, minilm_directory: Path, tmp_path: Path) -> None:
    with working(own_kafka, tmp_path, "onnx", model=str(minilm_directory)) as worker:
        judges(worker)


def test_flag_embedding_in_the_worker(own_kafka: Kafka, flag_environment: FlagEnvironment, tmp_path: Path) -> None:
    python, model = map(str, flag_environment)
    with working(own_kafka, tmp_path, "flag", model=model, python=python) as worker:
        judges(worker)


@pytest.mark.vllm
def test_a_real_vllm_behind_the_worker(own_kafka: Kafka, vllm_embedder: VllmServer, tmp_path: Path) -> None:
    with working(own_kafka, tmp_path, "http", url=vllm_embedder.url) as worker:
        judges(worker)


def judges(worker: Worker) -> None:
    """See the verdict on a failed job come, and what no signature knows judged with the embedder alone."""
    assert worker.fails_with(OPEN[0]).message
    assert (worker.counted("with"), worker.counted("without")) == (1, 0)
