"""A model's reading of a template: what is asked, what is kept of the answer, and what the clock makes of it."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.grammar.names import Meaning
from processors.models.language_model import Answer, Question
from processors.models.schema import problem
from processors.models.template_check import Confirmed, completed, confirmed
from processors.models.template_reading import UNITS, Sample, question, read_template, reading, texts_of
from records import JobMetric

STEP_S, EVERY = 0.05, 10


def samples(count: int = 20) -> list[Sample]:
    """Lines that no grammar knows: an update counter, its end, something that falls, and milliseconds."""
    return [
        Sample(
            f"upd {i * EVERY} of 9000 obj {2.5 / (1 + i):.4f} lam 0.001 tick {1000 * STEP_S:.1f}", i * EVERY * STEP_S
        )
        for i in range(count)
    ]


RIGHT = {
    "number_1": {"meaning": "step", "unit": "none"},
    "number_2": {"meaning": "total", "unit": "none"},
    "number_3": {"meaning": "loss", "unit": "none"},
    "number_4": {"meaning": "other", "unit": "none"},
    "number_5": {"meaning": "step_time", "unit": "ms"},
}


class Fixed:
    """Answers the same to every question."""

    def __init__(self, content: Mapping[str, Any] | None) -> None:
        self.content = content
        self.asked: list[Question] = []

    def ask(self, question: Question) -> Answer | None:
        self.asked.append(question)
        return None if self.content is None else Answer("fixed", question.version, self.content)


def test_a_right_answer_is_read_and_confirmed_by_the_clock() -> None:
    model = Fixed(RIGHT)
    given = read_template(model, samples(), "j")
    assert given is not None
    assert [(slot.index, slot.meaning, slot.scale) for slot in given.slots] == [
        (0, Meaning.STEP, 1.0),
        (1, Meaning.TOTAL, 1.0),
        (2, Meaning.LOSS, 1.0),
        (4, Meaning.STEP_TIME, 1e-3),
    ]
    assert problem(RIGHT, model.asked[0].schema) == ""
    kept = confirmed(given, samples())
    assert kept is not None
    assert (kept.step, kept.loss) == (190, pytest.approx(0.125))
    assert kept.step_time_s == pytest.approx(STEP_S)


def test_no_answer_is_no_reading() -> None:
    assert read_template(Fixed(None), samples()) is None


def test_all_lines_of_a_template_are_one_question() -> None:
    keys = set()
    for each in samples():
        asked = question([each])
        assert asked is not None
        keys.add(asked.key)
    assert len(keys) == 1
    other = question([Sample("upd 10 of 9000 objective 0.1 lam 0.001 tick 50", 0)])
    assert other is not None
    assert other.key not in keys


def test_lines_without_numbers_or_with_too_many_are_not_asked_about() -> None:
    assert question([Sample("no number", 0)]) is None
    assert question([Sample("1 2 3 " * 20, 0)]) is None


def test_an_answer_with_two_steps_or_none_of_interest_is_no_reading() -> None:
    assert reading(RIGHT | {"number_2": {"meaning": "step", "unit": "none"}}, samples()[0].text, "m") is None
    assert reading(RIGHT | {"number_4": {"meaning": "step_time", "unit": "s"}}, samples()[0].text, "m") is None
    other = {"meaning": "other", "unit": "none"}
    assert reading(dict.fromkeys(RIGHT, other), samples()[0].text, "m") is None


@pytest.mark.parametrize(
    "changes",
    [
        {"number_5": {"meaning": "step_time", "unit": "it/s"}},
        {"number_5": {"meaning": "rate", "unit": "ms"}},
        {"number_1": {"meaning": "step", "unit": "s"}},
        {"number_3": {"meaning": "loss", "unit": "tokens/h"}},
    ],
)
def test_a_number_whose_unit_contradicts_its_meaning_is_left_out(changes: dict[str, Any]) -> None:
    given = reading(RIGHT | changes, samples()[0].text, "m")
    assert given is not None
    left_out = int(next(iter(changes)).removeprefix("number_")) - 1
    assert [slot.index for slot in given.slots] == [place for place in (0, 1, 2, 4) if place != left_out]


@pytest.mark.parametrize(
    "changes",
    [
        {"number_5": {"meaning": "step_time", "unit": "s"}},
        {"number_5": {"meaning": "rate", "unit": "it/s"}},
        {"number_5": {"meaning": "other", "unit": "none"}},
        {"number_1": {"meaning": "other", "unit": "none"}},
        {"number_1": {"meaning": "other", "unit": "none"}, "number_2": {"meaning": "step", "unit": "none"}},
    ],
)
def test_what_the_clock_contradicts_is_dropped(changes: dict[str, Any]) -> None:
    given = reading(RIGHT | changes, samples()[0].text, "m")
    assert given is not None
    assert confirmed(given, samples()) is None


def test_too_few_lines_confirm_nothing() -> None:
    given = reading(RIGHT, samples()[0].text, "m")
    assert given is not None
    assert confirmed(given, samples(3)) is None
    assert confirmed(given, []) is None


def test_lines_of_other_templates_are_left_out() -> None:
    given = reading(RIGHT, samples()[0].text, "m")
    assert given is not None
    mixed = [each for one in samples() for each in (one, Sample("evaluating 7", one.time))]
    kept = confirmed(given, mixed)
    assert kept is not None
    assert kept.step == 190


def test_a_rate_in_steps_is_confirmed_too() -> None:
    lines = [Sample(f"upd {i} pace {1 / STEP_S} q 3", i * STEP_S) for i in range(10)]
    said = {
        "number_1": {"meaning": "step", "unit": "none"},
        "number_2": {"meaning": "rate", "unit": "it/s"},
        "number_3": {"meaning": "other", "unit": "none"},
    }
    given = reading(said, lines[0].text, "m")
    assert given is not None
    kept = confirmed(given, lines)
    assert kept is not None
    assert (kept.step, kept.loss) == (9, None)
    assert kept.step_time_s == pytest.approx(STEP_S)


FIELD = st.fixed_dictionaries(
    {
        "meaning": st.sampled_from(["step", "total", "epoch", "step_time", "rate", "elapsed", "loss", "other"]),
        "unit": st.sampled_from(UNITS),
    }
)
NONSENSE = st.fixed_dictionaries({f"number_{place}": FIELD for place in range(1, 6)})


@given(NONSENSE)
def test_no_nonsense_gives_a_wrong_step_or_step_time(content: dict[str, Any]) -> None:
    given = reading(content, samples()[0].text, "m")
    kept = confirmed(given, samples()) if given else None
    if kept is not None:
        assert kept.step == 190
        assert kept.step_time_s == pytest.approx(STEP_S, rel=0.35)


LOOKALIKE = [
    Sample(f"seen {i * 32} k {i} obj {1 / (i + 1):.3f} used {32 * i} tick 0.05 s", i * STEP_S) for i in range(20)
]


@given(NONSENSE)
def test_counters_of_samples_are_not_taken_for_steps(content: dict[str, Any]) -> None:
    given = reading(content, LOOKALIKE[0].text, "m")
    kept = confirmed(given, LOOKALIKE) if given else None
    if kept is not None:
        assert kept.step == 19
        assert kept.step_time_s == pytest.approx(STEP_S, rel=0.35)


def test_what_the_tracker_says_stays_and_what_it_leaves_open_is_filled() -> None:
    known = Confirmed(190, 0.05, 0.1, 1.0)
    open_ = JobMetric(id="i", job="j", time=1.0, loss=0.7, confidence=0.2)
    new = completed(open_, known)
    assert (new.step, new.step_time_s, new.loss, new.method, new.confidence) == (190, 0.05, 0.7, "stated", 0.6)
    sure = JobMetric(id="i", job="j", time=1.0, step=7, step_time_s=0.2, method="timestamps", confidence=0.8)
    new = completed(sure, known)
    assert (new.step, new.step_time_s, new.loss, new.method, new.confidence) == (7, 0.2, 0.1, "timestamps", 0.8)


@given(st.text(max_size=80))
def test_any_line_can_be_asked_about(text: str) -> None:
    asked = question([Sample(text, 0)])
    assert (asked is None) == (not 1 <= len(texts_of(text)) - 1 <= 24)
