"""A worker whose questions a model worker answers: what the answers change, and all that they do not."""

import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.prompts import Prompt
from schedmate_records import JobMetric
from streams.memory import MemoryBroker
from streams.model_worker.http_server import HttpModelServer
from streams.model_worker.language_model import Answer
from streams.model_worker.pool import ModelLimits, ModelPool
from streams.runtimes.engine import Engine
from streams.runtimes.local_worker import LocalWorker
from streams.transport import outgoing
from tests.metric_values import value
from tests.streams.model_worker import misbehaving_server as bad

from .local_worker import LocalModelWorker
from .made_up_logs import FAILURES, PROGRESS, Progress
from .running import PARTITIONS, answerer_of, input_of, job_processor, replay, run
from .sensible import sensible

STEP_S, EVERY = 0.05, 10


def progress(count: int = 100) -> tuple[list[str], list[float]]:
    """Lines that no grammar knows, with their arrival."""
    lines = [f"zug {EVERY * i}.0 obj {3 / (1 + i):.4f} tick {1000 * STEP_S:.1f}" for i in range(1, count + 1)]
    return lines, [1000 + i * EVERY * STEP_S for i in range(1, count + 1)]


def calm(lines: Sequence[str]) -> list[float]:
    return [1000 + i / 10 for i in range(len(lines))]


class Saying:
    """A model that answers by a function of the question."""

    def __init__(self, says: Callable[[Prompt], dict[str, Any] | None]) -> None:
        self.says = says
        self.asked: list[Prompt] = []

    def ask(self, prompt: Prompt) -> Answer | None:
        self.asked.append(prompt)
        content = self.says(prompt)
        return None if content is None else Answer("m", prompt.version, content)


def numbers(metrics: Sequence[JobMetric]) -> list[tuple[Any, ...]]:
    return [(each.step, each.epoch, each.step_time_s, each.throughput, each.loss, each.method) for each in metrics]


def test_unknown_format_is_asked_about_once_and_its_speed_is_given() -> None:
    model = Saying(sensible)
    ran = run(input_of(*progress(), 0), model)
    assert [asked.kind for asked in model.asked] == ["format"]
    assert all(each.step_time_s is None for each in run(input_of(*progress(), 0), None).metrics)
    newest = ran.metrics[-1]
    assert (newest.step, newest.step_time_s, newest.method) == (1000, STEP_S, "model")
    assert newest.loss == pytest.approx(3 / 101, abs=1e-4)
    assert newest.evidence[-1].text == progress()[0][-1]
    assert 0 < newest.confidence <= 0.85


def test_known_format_is_applied_without_a_question() -> None:
    (known,) = run(input_of(*progress(), 0), Saying(sensible)).formats
    model = Saying(sensible)
    ran = run(input_of(*progress(), 0), model, [known])
    assert model.asked == []
    assert ran.questions == []
    assert (ran.metrics[-1].step, ran.metrics[-1].step_time_s) == (1000, STEP_S)


def test_format_of_a_second_job_is_not_asked_about() -> None:
    broker, model = MemoryBroker(partitions=PARTITIONS), Saying(sensible)
    answerer = answerer_of(broker, model)
    worker = LocalModelWorker(broker, answerer)
    (question,) = run(input_of(*progress(), 0), Saying(sensible)).questions
    for job in ("a", "b", "c"):
        broker.append(outgoing(msgspec.structs.replace(question, id=job, job=job)))
    while worker.step():
        pass
    assert len(model.asked) == 1
    assert len(broker.read("formats")) == 1
    assert value(answerer.metrics.nothing_to_ask) == 2


def test_jobs_that_ask_about_one_format_at_one_time_lead_to_one_question() -> None:
    (question,) = run(input_of(*progress(), 0), Saying(sensible)).questions
    together = threading.Barrier(4)

    def slowly(prompt: Prompt) -> dict[str, Any]:
        time.sleep(0.2)
        return sensible(prompt)

    model = Saying(slowly)
    answerer = answerer_of(MemoryBroker(partitions=PARTITIONS), model)

    def ask(job: str) -> object:
        together.wait(10)
        return answerer.answer(msgspec.structs.replace(question, id=job, job=job))

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(ask, "abcd"))
    assert len(model.asked) == 1
    assert sum(each is not None for each in answers) == 1


def test_format_without_an_answer_is_not_asked_about_for_every_job() -> None:
    (question,) = run(input_of(*progress(), 0), Saying(sensible)).questions
    model, now = Saying(lambda _: None), [0.0]
    answerer = answerer_of(MemoryBroker(partitions=PARTITIONS), model)
    answerer.clock = lambda: now[0]
    for job in ("a", "b", "c"):
        assert answerer.answer(msgspec.structs.replace(question, id=job, job=job)) is None
    assert len(model.asked) == 1
    now[0] = answerer.within_s + 1
    answerer.answer(question)
    assert len(model.asked) == 2


def test_a_replay_with_the_same_answers_makes_the_same_records_without_a_server() -> None:
    lines = [*progress(10)[0], "something is wrong: cannot write, no space"]
    ran = run(input_of(lines, progress(11)[1], 3), Saying(sensible))
    again = replay(ran)
    assert again.results() == ran.results()
    assert any(each.source == "model" for each in again.failures)


@pytest.mark.parametrize("per_chunk", [7, 100])
def test_numbers_of_a_known_format_do_not_depend_on_how_lines_are_cut(per_chunk: int) -> None:
    lines, times = progress()
    formats = run(input_of(lines, times, 0), Saying(sensible)).formats
    one_by_one = run(input_of(lines, times, 0, per_chunk=1), None, formats).metrics[-1]
    cut = run(input_of(lines, times, 0, per_chunk=per_chunk), None, formats).metrics[-1]
    assert numbers([cut]) == numbers([one_by_one])
    assert cut.step_time_s == STEP_S


@pytest.mark.parametrize("behaviour", [bad.status(500), bad.says("nonsense"), bad.hangs_up, bad.answers({"x": 1})])
def test_a_model_that_fails_changes_nothing_but_counters(behaviour: bad.Behaviour) -> None:
    lines = [*progress(60)[0], "something is wrong: cannot write, no space"]
    records = input_of(lines, progress(61)[1], 3)
    with bad.misbehaving(behaviour) as server:
        pool = ModelPool([HttpModelServer(server.url, "m")], ModelLimits(timeout_s=1, attempts=2, pause_s=0.001))
        ran = run(records, pool)
    assert ran.results() == run(records, None).results()
    assert value(pool.metrics.answered) == value(ran.answering.answered) == 0
    dropped = value(ran.answering.nothing_to_ask) + value(ran.answering.unanswered) + value(ran.answering.expired)
    assert dropped == len(ran.questions) >= 2
    assert ran.answers == []


def anything(prompt: Prompt, chance: random.Random) -> dict[str, Any]:
    """Return something inside the schema of `prompt`."""
    wanted = prompt.schema["properties"]
    if "training" in wanted:
        return {
            "training": chance.choice(["yes", "yes", "no"]),
            "templates": [_inside(wanted["templates"]["items"], chance) for _ in range(3)],
            "columns": [_inside(wanted["columns"]["items"], chance) for _ in range(chance.randint(0, 6))],
        }
    return {}


def _inside(schema: Any, chance: random.Random) -> dict[str, Any]:
    return {
        name: chance.choice(part["enum"])
        if "enum" in part
        else chance.randint(part["minimum"], min(part["maximum"], 12))
        for name, part in schema["properties"].items()
    }


@given(st.sampled_from(PROGRESS), st.sampled_from(list(FAILURES)), st.integers(0, 1 << 32))
def test_whatever_lies_inside_the_schema_nothing_certain_changes(log: Progress, failure: str, seed: int) -> None:
    """Numbers that the tracker gives stay. What holds for verdicts is in `test_failure_answers.py`."""
    trouble, code = FAILURES[failure]
    lines = [*log.lines, *trouble[-4:]]
    times = [*log.times, *(log.times[-1] + i for i in range(1, 5))]
    chance = random.Random(seed)
    records = input_of(lines, times, code)
    plain, ran = run(records, None), run(records, Saying(lambda prompt: anything(prompt, chance)))
    for each in ran.metrics:
        if each.method == "model":
            assert each.step_time_s == pytest.approx(log.step_time_s, rel=0.35)
    given = {each.id: each for each in ran.metrics}
    for each in plain.metrics:
        same = given[each.id]
        assert each.step_time_s in (None, same.step_time_s) or same.method == "model"
        assert same.loss == each.loss or each.loss is None
    assert ran.slowdowns == plain.slowdowns


def test_a_worker_that_begins_again_asks_nothing_new() -> None:
    """Its states are read back, and what it had read since is read once more."""
    lines = [*progress(60)[0], "something is wrong: cannot write, no space"]
    records = input_of(lines, progress(61)[1], 3)
    broker = MemoryBroker(partitions=PARTITIONS)
    for record in records:
        broker.append(outgoing(record))
        processor = job_processor(ask_models=True)
        worker = LocalWorker(broker, [Engine(processor, PARTITIONS)])  # a new one for each record
        while worker.step():
            pass
    whole = MemoryBroker(partitions=PARTITIONS)
    worker = LocalWorker(whole, [Engine(job_processor(ask_models=True), PARTITIONS)])
    for record in records:
        whole.append(outgoing(record))
        while worker.step():
            pass
    asked = [each.value for each in broker.read("model-questions")]
    assert asked == [each.value for each in whole.read("model-questions")]
    assert len(set(asked)) == len(asked) >= 2
