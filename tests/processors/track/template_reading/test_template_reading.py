"""A model's reading of a template: what is asked, what is kept of the answer, and what the clock makes of it."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.grammar.names import Meaning
from processors.prompts.schema import problem
from processors.track.template_reading.check import Confirmed, Template, confirmed, point
from processors.track.template_reading.prepare import could_be_confirmed
from processors.track.template_reading.prompt import UNITS, fields, numbers, prompt, texts_of
from schedmate_records import Evidence, Sample

STEP_S, EVERY = 0.05, 10


def sample(text: str, time: float) -> Sample:
    return Sample(line=Evidence(topic="job-logs", partition=0, offset=0, line=1, text=text), time=time)


def samples(count: int = 20) -> list[Sample]:
    """Lines that no grammar knows: an update counter, its end, something that falls, and milliseconds."""
    return [
        sample(
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


def template(content: Mapping[str, Any], lines: Sequence[Sample]) -> Template:
    return Template("key", texts_of(lines[0].line.text), tuple(numbers(content)))


def held(content: Mapping[str, Any], lines: Sequence[Sample]) -> Confirmed | None:
    """Return what the clock confirms of an answer about the template of the first of `lines`; None where one of them states nothing."""
    said = template(content, lines)
    alike = [each for each in lines if texts_of(each.line.text) == said.texts]
    points = [point(said, each.line.text, 1, 0, each.time) for each in alike]
    known = [each for each in points if each is not None]
    return confirmed(known) if len(known) == len(points) else None


def test_a_right_answer_is_read_and_confirmed_by_the_clock() -> None:
    assert [(field.index, field.meaning, field.scale) for field in template(RIGHT, samples()).fields] == [
        (0, Meaning.STEP, 1.0),
        (1, Meaning.TOTAL, 1.0),
        (2, Meaning.LOSS, 1.0),
        (4, Meaning.STEP_TIME, 1e-3),
    ]
    asked = prompt(samples())
    assert asked is not None
    assert problem(RIGHT, asked.schema) == ""
    kept = held(RIGHT, samples())
    assert kept is not None
    assert (kept.step, kept.loss) == (190, pytest.approx(0.125))
    assert kept.step_time_s == pytest.approx(STEP_S)


def test_printed_times_confirm_where_all_lines_arrived_together() -> None:
    lines = [
        sample(f"2027-01-15 08:00:{i:02d},{500 * (i % 2):03d} upd {i} of 9 obj 0.5 lam 0.1 tick {1500 - 1000 * (i % 2)}", 7.0)
        for i in range(12)
    ]  # fmt: skip
    assert held(RIGHT, lines) is None, "what is stated is not what passed"
    lines = [sample(f"2027-01-15 08:00:{2 * i:02d},000 upd {i} of 9 obj 0.5 lam 0.1 tick 2000", 7.0) for i in range(12)]
    kept = held(RIGHT, lines)
    assert kept is not None
    assert (kept.step, kept.step_time_s) == (11, 2.0)
    unstamped = [sample(each.line.text[24:], 7.0) for each in lines]
    assert held(RIGHT, unstamped) is None, "no clock, no number"


def test_all_lines_of_a_template_are_one_question() -> None:
    keys = set()
    for each in samples():
        asked = prompt([each])
        assert asked is not None
        keys.add(asked.key)
    assert len(keys) == 1
    other = prompt([sample("upd 10 of 9000 objective 0.1 lam 0.001 tick 50", 0)])
    assert other is not None
    assert other.key not in keys


def test_lines_without_numbers_or_with_too_many_are_not_asked_about() -> None:
    assert prompt([sample("no number", 0)]) is None
    assert prompt([sample("1 2 3 " * 20, 0)]) is None


def test_an_answer_with_two_steps_or_none_of_interest_is_no_reading() -> None:
    assert not template(RIGHT | {"number_2": {"meaning": "step", "unit": "none"}}, samples()).fields
    assert not template(RIGHT | {"number_4": {"meaning": "step_time", "unit": "s"}}, samples()).fields
    other = {"meaning": "other", "unit": "none"}
    assert not template(dict.fromkeys(RIGHT, other), samples()).fields
    assert not fields(numbers(RIGHT), texts_of("upd 5 obj 0.5")), "it is about another line"


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
    left_out = int(next(iter(changes)).removeprefix("number_")) - 1
    assert [field.index for field in template(RIGHT | changes, samples()).fields] == [
        place for place in (0, 1, 2, 4) if place != left_out
    ]


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
    assert template(RIGHT | changes, samples()).fields
    assert held(RIGHT | changes, samples()) is None


def test_too_few_lines_confirm_nothing() -> None:
    assert held(RIGHT, samples(7)) is None
    assert held(RIGHT, samples(8)) is not None


def test_lines_that_arrive_many_at_a_time_are_confirmed_by_their_moments() -> None:
    lines = [sample(each.line.text, 10.0 * (place // 5)) for place, each in enumerate(samples(20))]
    paced = [sample(each.line.text, 2.5 * (place // 5)) for place, each in enumerate(samples(20))]
    assert held(RIGHT, lines) is None
    kept = held(RIGHT, paced)
    assert kept is not None
    assert (kept.step, kept.share) == (190, 1.0)
    assert held(RIGHT, paced[:15]) is None, "two intervals are too few"


def test_lines_of_other_templates_are_left_out() -> None:
    mixed = [each for one in samples() for each in (one, sample("evaluating 7", one.time))]
    kept = held(RIGHT, mixed)
    assert kept is not None
    assert kept.step == 190


def test_a_rate_in_steps_is_confirmed_too() -> None:
    lines = [sample(f"upd {i} pace {1 / STEP_S} q 3", i * STEP_S) for i in range(10)]
    said = {
        "number_1": {"meaning": "step", "unit": "none"},
        "number_2": {"meaning": "rate", "unit": "it/s"},
        "number_3": {"meaning": "other", "unit": "none"},
    }
    kept = held(said, lines)
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
    kept = held(content, samples())
    if kept is not None:
        assert kept.step == 190
        assert kept.step_time_s == pytest.approx(STEP_S, rel=0.35)


LOOKALIKE = [
    sample(f"seen {i * 32} k {i} obj {1 / (i + 1):.3f} used {32 * i} tick 0.05 s", i * STEP_S) for i in range(20)
]


@given(NONSENSE)
def test_counters_of_samples_are_not_taken_for_steps(content: dict[str, Any]) -> None:
    kept = held(content, LOOKALIKE)
    if kept is not None:
        assert kept.step == 19
        assert kept.step_time_s == pytest.approx(STEP_S, rel=0.35)


def test_only_lines_that_could_be_confirmed_are_worth_a_question() -> None:
    assert could_be_confirmed(samples())
    assert could_be_confirmed(LOOKALIKE)
    together = [sample(each.line.text, 7.0) for each in samples()]
    assert not could_be_confirmed(together), "no clock"
    table = [sample(f"channel {i:02d}/32 : {i % 4} {i % 3} {i % 2}", i * 0.01) for i in range(20)]
    assert not could_be_confirmed(table), "no number is a time"
    falling = [sample(f"left {900 - i} tick {1000 * STEP_S:.1f}", i * STEP_S) for i in range(20)]
    assert not could_be_confirmed(falling), "no number is a step"


@given(
    st.integers(1, 4),
    st.sampled_from([0.001, 0.05, 1.0, 30.0]),
    st.sampled_from(["{s}", "{ms:.1f}", "{rate:.2f}", "{minutes}", "{noise}"]).flatmap(
        lambda time: st.permutations(["{i}", time, "7"])
    ),
    st.permutations(["step", "time", "other"]),
    st.sampled_from(["s", "ms", "min", "it/s"]),
)
def test_what_an_answer_could_make_of_a_template_is_foreseen(
    stride: int, step_s: float, fields: list[str], said: list[str], unit: str
) -> None:
    meaning = {
        "step": {"meaning": "step", "unit": "none"},
        "time": {"meaning": "rate" if unit == "it/s" else "step_time", "unit": unit},
        "other": {"meaning": "other", "unit": "none"},
    }
    form = " ".join(f"{name} {field}" for name, field in zip("abc", fields, strict=True))
    values = {"s": step_s, "ms": 1000 * step_s, "rate": 1 / step_s, "minutes": step_s / 60}
    lines = [sample(form.format(i=i * stride, noise=i * 7 % 5, **values), i * stride * step_s) for i in range(1, 13)]
    content = {f"number_{place}": meaning[each] for place, each in enumerate(said, start=1)}
    if held(content, lines) is not None:
        assert could_be_confirmed(lines)


@given(st.text(max_size=80))
def test_any_line_can_be_asked_about(text: str) -> None:
    asked = prompt([sample(text, 0)])
    assert (asked is None) == (not 1 <= len(texts_of(text)) - 1 <= 24)
