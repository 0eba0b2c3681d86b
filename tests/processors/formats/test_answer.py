"""Answers about formats: the closed schema, hostile content, and the record that an answer becomes."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.formats.answer import read_answer, schema, to_record
from processors.formats.compiled import compile_format
from processors.formats.layout import numbered_columns
from processors.prompts.schema import problem
from schedmate_records import ColumnRole, FormatQuestion, KnownFormat, Reports, TemplateSamples, check, decode, encode

QUESTION = FormatQuestion(
    fingerprint="f",
    templates=[
        TemplateSamples(text="step {} loss {}", count=9, lines=["step 1 loss 2.5", "step 9 loss 0.5"]),
        TemplateSamples(text="eval {} took {} s", count=2, lines=["eval 3 took 7 s"]),
    ],
)
RIGHT = {
    "training": "yes",
    "templates": [{"template": 1, "reports": "training"}, {"template": 2, "reports": "evaluation"}],
    "columns": [
        {"column": 1, "role": "step", "unit": "none", "steps": 1},
        {"column": 2, "role": "loss", "unit": "none", "steps": 1},
        {"column": 4, "role": "step_time", "unit": "s", "steps": 0},
    ],
}


def test_columns_are_numbered_over_all_templates() -> None:
    assert [(each.template, each.index) for each in numbered_columns(QUESTION)] == [(1, 0), (1, 1), (2, 0), (2, 1)]


def test_answer_becomes_a_record_that_refers_to_templates_by_text() -> None:
    assert problem(RIGHT, schema(2, 4)) == ""
    answer = read_answer(RIGHT)
    assert answer is not None
    record = to_record(answer, QUESTION, author="m", time=5.0)
    first, second = record.templates
    assert [(each.column, each.role) for each in first.columns] == [(0, ColumnRole.STEP), (1, ColumnRole.LOSS)]
    assert [(each.column, each.role) for each in second.columns] == [(1, ColumnRole.REPORT_TIME)]
    assert (first.reports, second.reports) == (Reports.TRAINING, Reports.EVALUATION)
    assert decode(KnownFormat, encode(record)) == record


@pytest.mark.parametrize(
    "content",
    [None, 7, [], {}, {"training": "maybe"}, {"training": ["yes"]}, {"training": True, "templates": 1, "columns": "x"}],
)
def test_content_that_is_no_answer_is_refused(content: Any) -> None:
    assert read_answer(content) is None


def test_numbers_that_the_question_did_not_show_are_left_out() -> None:
    content = {
        "training": "yes",
        "templates": [{"template": 99, "reports": "training"}, {"template": 1, "reports": "training"}, "x", {}],
        "columns": [
            {"column": 1000, "role": "step", "unit": "none", "steps": 1},
            {"column": 1, "role": "step_time", "unit": "steps/s", "steps": 1},
            {"column": 2, "role": "loss", "unit": "none", "steps": -5},
            {"column": True, "role": "loss", "unit": "none", "steps": 1},
            {"column": 2, "role": ["loss"], "unit": None, "steps": 1},
            None,
        ],
    }
    answer = read_answer(content)
    assert answer is not None
    record = to_record(answer, QUESTION, author="m", time=5.0)
    assert [each.columns for each in record.templates][1] == []
    assert [each.role for each in record.templates[0].columns] == [ColumnRole.LOSS]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=9,
)
_PART = st.dictionaries(st.sampled_from(["template", "column", "role", "unit", "steps", "reports"]), _JSON)


@given(
    st.fixed_dictionaries(
        {
            "training": st.sampled_from(["yes", "no"]),
            "templates": st.lists(_PART) | _JSON,
            "columns": st.lists(_PART) | _JSON,
        }
    )
)
def test_whatever_comes_is_read_without_an_error(content: Any) -> None:
    answer = read_answer(content)
    assert answer is not None
    record = to_record(answer, QUESTION, author="m", time=5.0)
    check(record)
    compile_format(decode(KnownFormat, encode(record)))
    json.dumps([str(each) for each in answer.columns])
