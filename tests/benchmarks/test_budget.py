"""A job that prints new text line after line is read within a budget, and everything follows from its input alone."""

import itertools
import random
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import pytest

from benchmarks import hostile
from processors.budget import KEPT, LARGEST, PURSES, USUAL, BudgetState, _unknown, over_budget
from processors.grammar.extractor import templates
from processors.job import JobProcessor
from processors.new_lines import container_text
from processors.state import JobState
from schedmate_records import ErrorType, EventKind, Failure, JobEvent, JobMetric, LogChunk, Position, Record
from streams.producers.stored import read_chunks
from tests.metric_values import value

CORPUS = Path(__file__).parents[2] / "benchmarks" / "corpus"
BURST = int(PURSES[0].most)
PRICE = 1
"""Tokens for one of `words`."""


def words(count: int, seed: int = 0) -> list[str]:
    chance = random.Random(seed)
    return [" ".join("".join(chance.choices("bdghjqvwxz", k=8)) for _ in range(5)) for _ in range(count)]


def numbers(count: int, longest: int = 15) -> list[str]:
    """Return lines of one statement with numbers of all lengths: so many templates."""
    lengths = itertools.product(range(1, longest + 1), repeat=3)
    return [f"part {'1' * a} of {'1' * b} read in {'1' * c} s" for a, b, c in itertools.islice(lengths, count)]


def beyond(state: BudgetState, lines: Sequence[str], time: float = 0.0) -> list[int]:
    return over_budget(state, lines, templates(lines), time)


def run(processor: JobProcessor, state: JobState, chunks: Iterable[LogChunk], first: int = 0) -> list[Record]:
    return [
        record
        for offset, chunk in enumerate(chunks, first)
        for record in processor.process(state, Position("job-logs", 0, offset), chunk)
    ]


def chunk(lines: Sequence[str], first: int, time: float = 0.0) -> LogChunk:
    return LogChunk(job="7", producer="p", lines=list(lines), time=1e6 + time, first_line=first, first_piece=first)


def test_templates_that_were_paid_for_are_told_from_new_ones_together_as_one_by_one() -> None:
    state, paid, fresh = BudgetState(), words(60), words(200, seed=1)
    assert beyond(state, paid) == []
    lacking = _unknown(state.known, [*paid, *fresh])
    assert lacking.keys().isdisjoint(templates(paid))
    assert len(lacking) > 190
    assert list(lacking) == [each for each in fresh if _unknown(state.known, [each])]
    assert list(_unknown(b"", fresh)) == fresh


def test_new_text_is_read_up_to_a_burst_and_then_passed_over() -> None:
    state, lines = BudgetState(), numbers(BURST + 300)
    assert beyond(state, lines[:BURST]) == []
    assert len(beyond(state, lines[BURST:])) > 280


def test_lines_of_one_form_with_other_words_each_are_sampled_long_before_and_leave_tokens_for_others() -> None:
    state, lines = BudgetState(), words(2000)
    left = beyond(state, lines)
    assert left[0] >= USUAL / 2
    assert len(left) > 1500
    assert state.tokens[0] >= KEPT * BURST - 1
    assert beyond(state, ["[warden] (42) <- host=a7, port=99", "  | Name | Type |"]) == []


def test_what_a_chunk_holds_twice_is_read_first() -> None:
    state = BudgetState()
    beyond(state, words(2000))
    new, again = words(300, seed=1), words(40, seed=2)
    left = beyond(state, [*new, *again, *again])
    assert max(left) < len(new)
    assert len(left) > 250


def test_of_progress_the_newest_is_read_first() -> None:
    state = BudgetState(tokens=[0.0, 0.0, 2.0])
    assert beyond(state, [f"loss of {each} is 0.5" for each in words(40)])[-1] < 39


@pytest.mark.parametrize("kind", hostile.KINDS)
def test_of_each_kind_of_data_a_few_hundred_templates_are_read(kind: str) -> None:
    state, read = BudgetState(), 0
    for each in hostile.chunks(kind, 4):
        read += len(each.lines) - len(beyond(state, each.lines, each.time))
    assert read < 700


def test_what_was_paid_for_stays_known_and_other_digits_make_no_difference() -> None:
    state = BudgetState()
    known = [f"fetched part {number:03d} of {word}" for number, word in enumerate(words(60))]
    assert beyond(state, known) == []
    state.tokens = [0.0] * len(PURSES)
    assert beyond(state, [line.replace("part 0", "part 9") for line in known]) == []
    assert len(beyond(state, words(60, seed=1))) >= 55


def test_tokens_come_back_with_lines_and_with_time_that_moves_forward() -> None:
    state = BudgetState()
    beyond(state, ["step 1", *words(1)])
    state.tokens = [0.0] * len(PURSES)
    assert len(beyond(state, words(1, seed=2), time=1000.0)) == 0
    state.tokens = [0.0] * len(PURSES)
    assert len(beyond(state, words(100, seed=3), time=5000.0)) == 100 - int(
        (PURSES[0].a_second + 100 * PURSES[0].a_line) / PRICE
    )
    state.tokens = [0.0] * len(PURSES)
    assert len(beyond(state, words(10, seed=4), time=10.0)) == 10
    lines = int(10 * PRICE / PURSES[0].a_line)
    assert len(beyond(state, ["step 1"] * lines + words(10, seed=5), time=10.0)) == 0


def test_words_of_failure_and_of_progress_have_tokens_of_their_own() -> None:
    state = BudgetState()
    state.tokens[0] = 0.0
    assert beyond(state, ["fatal: all is lost", "gqxv jjxq", "epoch 3 loss 0.5"]) == [1]
    assert len(beyond(state, [f"error in {word}" for word in words(2000, seed=6)])) > 1500
    assert beyond(state, ["epoch 3 of 5, loss 0.5"]) == []


def test_the_filter_is_bounded() -> None:
    state = BudgetState()
    for seed in range(10):
        state.tokens = [1e9] * len(PURSES)
        beyond(state, words(1000, seed), time=1000.0 * seed)
        state.forms = b""
    assert len(state.known) == LARGEST
    assert len(msgspec.json.encode(state)) < 3100


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["random bytes", "random words", "k=v", "base64", "base64 in one line of 10 MB"])
def test_a_replay_from_any_stored_state_gives_the_same(kind: str) -> None:
    chunks = list(hostile.chunks(kind, 30))
    state, warm, cold = JobState(job=kind), JobProcessor(), JobProcessor()
    state.budget.tokens = [40.0, 10.0, 10.0]
    half = run(warm, state, chunks[:15])
    stored = msgspec.json.encode(state)
    rest = run(warm, state, chunks[15:], 15)
    replayed = msgspec.json.decode(stored, type=JobState)
    assert run(cold, replayed, chunks[15:], 15) == rest
    assert msgspec.json.encode(replayed) == msgspec.json.encode(state)
    assert value(warm.reader.metrics.passed_over) > 0
    assert sum(isinstance(each, JobEvent) for each in half + rest) == 1


def test_a_job_that_prints_free_text_for_hours_gets_its_metrics_and_its_verdict_and_is_told_once() -> None:
    processor, state = JobProcessor(), JobState(job="7")
    flood, first = words(4 * BURST), itertools.count(1, 500)
    chunks = [chunk(flood[start : start + 500], next(first), start / 500) for start in range(0, len(flood), 500)]
    chunks += [
        chunk([f"step {step} loss 0.5 step_time 0.25 s", *words(40, step)], next(first), 100.0 + step)
        for step in range(60)
    ]
    chunks.append(
        chunk(
            ["Traceback (most recent call last):", '  File "t.py", line 3, in f', "KeyError: 'w'"], next(first), 200.0
        )
    )
    made = run(processor, state, chunks)
    (event,) = [each for each in made if isinstance(each, JobEvent)]
    assert event.kind is EventKind.LINES_PASSED_OVER
    assert "Does the job print data?" in event.detail
    assert value(processor.reader.metrics.passed_over) > 2 * BURST
    metric = [each for each in made if isinstance(each, JobMetric)][-1]
    assert (metric.step, metric.step_time_s) == (58, 0.25), "the last report waits for more"
    verdict = [each for each in made if isinstance(each, Failure)][-1]
    assert verdict.error_type is ErrorType.USER_SCRIPT
    assert verdict.message.startswith("KeyError")


def test_a_new_attempt_is_told_again() -> None:
    processor, state = JobProcessor(), JobState(job="7")
    state.budget.tokens = [0.0] * len(PURSES)
    state.budget.time = 1e9
    again = msgspec.structs.replace(chunk(words(10), 1), attempt=1)
    made = run(processor, state, [chunk(words(10), 1), chunk(words(10, 1), 11), again])
    assert [each.attempt for each in made if isinstance(each, JobEvent)] == [0, 1]


def test_of_real_logs_only_settings_are_passed_over() -> None:
    files = [*CORPUS.glob("**/log.txt*"), *CORPUS.glob("failures/**/*.log*")]
    whole = 0
    for file in files:
        state = BudgetState()
        passed_over = [
            lines[place]
            for read in read_chunks(file)
            if (lines := container_text(read.lines))
            for place in beyond(state, lines, read.time)
        ]
        whole += not passed_over
        assert not [line for line in passed_over if re.search(r"(?i)\berror:|\bloss[:=] *\d|Traceback|it/s", line)], (
            file
        )
    assert whole >= 0.97 * len(files) > 100
