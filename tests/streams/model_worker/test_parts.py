"""Answer store, breaker, budget and schema, each alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.prompts.schema import between, closed, one_of, problem, several
from streams.model_worker.answers import AnswerStore, Key
from streams.model_worker.breaker import CircuitBreaker
from streams.model_worker.budget import HourlyBudget
from tests.metric_values import value

SCHEMA = closed({"kind": one_of(["a", "b"]), "lines": several(between(5, 9), 2)})


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"kind": "a", "lines": [5, 9]}, ""),
        ({"kind": "b", "lines": []}, ""),
        ({"kind": "c", "lines": []}, "answer.kind: expected one of a, b, got 'c'"),
        ({"kind": ["a"], "lines": []}, "answer.kind: expected one of"),
        ({"kind": "a", "lines": [4]}, "answer.lines[0]: expected a whole number from 5 to 9, got 4"),
        ({"kind": "a", "lines": [True]}, "expected a whole number"),
        ({"kind": "a", "lines": [5.0]}, "expected a whole number"),
        ({"kind": "a", "lines": [5, 6, 7]}, "at most 2 entries"),
        ({"kind": "a", "lines": 5}, "expected a list"),
        ({"kind": "a"}, "expected an object with kind, lines"),
        ({"kind": "a", "lines": [], "more": 1}, "expected an object with kind, lines"),
        ([], "expected an object"),
        (None, "expected an object"),
    ],
)
def test_what_is_outside_a_schema_is_said(value: Any, words: str) -> None:
    said = problem(value, SCHEMA)
    assert words in said
    assert bool(said) == bool(words)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["kind", "lines", "x"]), inner),
    max_leaves=8,
)


@given(JSON)
def test_no_json_makes_the_check_raise(value: Any) -> None:
    if not problem(value, SCHEMA):
        assert value["kind"] in ("a", "b")
        assert all(5 <= each <= 9 for each in value["lines"])


def key(number: int) -> Key:
    return "m", "check", "1", str(number)


def test_the_store_is_bounded_in_memory_and_on_disk(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    store = AnswerStore(5, file)
    for number in range(100):
        store.put(key(number), {"n": number})
    assert len(store) == 5
    assert len(file.read_text().splitlines()) <= 10
    again = AnswerStore(5, file)
    assert [again.get(key(number)) for number in range(94, 100)] == [
        None,
        *({"n": number} for number in range(95, 100)),
    ]


def test_what_was_used_lately_stays() -> None:
    store = AnswerStore(2)
    store.put(key(1), {})
    store.put(key(2), {})
    store.get(key(1))
    store.put(key(3), {})
    assert store.get(key(1)) is not None
    assert store.get(key(2)) is None


def test_broken_lines_are_counted_and_left_out(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    good = json.dumps({"key": key(1), "answer": {"n": 1}})
    file.write_bytes(
        b"\xff\xfe\n{\n[1]\n" + b'{"key": ["a"], "answer": {}}\n{"key": [1, 2, 3, 4], "answer": 7}\n' + good.encode()
    )
    store = AnswerStore(5, file)
    assert store.get(key(1)) == {"n": 1}
    assert value(store.metrics.unreadable) == 5


def test_a_file_that_cannot_be_written_costs_nothing_but_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = AnswerStore(5, tmp_path / "file" / "answers.jsonl")
    store.put(key(1), {"n": 1})
    assert store.get(key(1)) == {"n": 1}
    assert value(store.metrics.not_written) == 1


def test_a_breaker_rests_longer_each_time() -> None:
    now = [0.0]
    breaker = CircuitBreaker(2, 10, lambda: now[0])
    rests = []
    breaker.failed()
    assert not breaker.open
    assert breaker.failed()
    for _ in range(7):
        begun = now[0]
        while breaker.open:
            now[0] += 1
        rests.append(now[0] - begun)
        breaker.begin()
        assert breaker.open, "one trial at a time"
        breaker.failed()
    assert rests == [10, 20, 40, 80, 160, 160, 160]
    now[0] += 161
    breaker.begin()
    assert breaker.succeeded()
    assert not breaker.open


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 2000)), max_size=60))
def test_no_hour_holds_more_than_the_budget(asked: list[tuple[str, float]]) -> None:
    now = [0.0]
    budget = HourlyBudget(2, 3, lambda: now[0])
    spent: list[tuple[str, float]] = []
    for job, wait in asked:
        now[0] += wait
        within = [(one, time) for one, time in spent if time > now[0] - 3600]
        expected = len(within) < 3 and sum(one == job for one, _ in within) < 2
        assert budget.spend(job) == expected
        if expected:
            spent.append((job, now[0]))
