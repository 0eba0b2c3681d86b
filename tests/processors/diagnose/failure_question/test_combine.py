"""What follows from a model's answer about a failure, and what never does."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.diagnose.ending import Ending
from processors.diagnose.failure_question import TrackRecord
from processors.diagnose.failure_question.combine import combined, objection
from processors.diagnose.failure_question.question import opinion_of_rules
from processors.diagnose.failure_question.table import Band, band, shipped
from processors.diagnose.failure_question.track_record import ENOUGH
from processors.prompts import Prompt
from schedmate_records import (
    RULES,
    Certainty,
    Component,
    ErrorType,
    Evidence,
    Failure,
    FailureAnswer,
    FailureFacts,
    FailureSource,
    ModelAnswer,
    Position,
    RecoveryAction,
)
from tests.benchmarks.models.test_harm import HOSTILE
from tests.streams.model_worker.sensible import sensible

UNKNOWN_END = Ending("j", 0, Position("job-events", 0, 1), 9.0)
FAILED_END = UNKNOWN_END._replace(exit_code=1)
TEXTS = {
    1: "step 1 loss 2.0",
    20: "NCCL WARN Net : socket failed: connection timed out",
    30: "RuntimeError: the configuration has no field `width`",
    40: "write failed: No space left on device",
    50: "training finished, checkpoint saved",
}


def line(number: int) -> Evidence:
    return Evidence(topic="job-logs", partition=0, offset=3, line=number, text=TEXTS[number], rank=1)


def verdict(**changes: Any) -> Failure:
    fields: dict[str, Any] = {
        "id": "v", "job": "j", "time": 5.0, "root": line(20), "rank": 1, "node": "n1", "message": "a line", "confidence": 0.6,
        "error_type": ErrorType.INFRASTRUCTURE, "faulty_component": Component.NETWORK, "restartable": True, "signature": "nccl",
        "source": FailureSource.SIGNATURE, "evidence": [line(20)],
    }  # fmt: skip
    return Failure(**fields | changes)


def answer(lines: tuple[int, ...] = (30,), **changes: Any) -> ModelAnswer:
    fields: dict[str, Any] = {
        "failed": True, "error_type": ErrorType.USER_SCRIPT, "restartable": False, "certainty": Certainty.HIGH, "root": line(lines[0]),
        "summary": "The configuration lacks the field width.",
    }  # fmt: skip
    return ModelAnswer(
        id="a", job="j", about="v", revision=1, time=9.0, model="m", prompt="2",
        failure=FailureAnswer(**fields | changes), lines=[line(each) for each in lines],
    )  # fmt: skip


def healthy(*lines: int, **changes: Any) -> ModelAnswer:
    return answer(lines, failed=False, error_type=ErrorType.NONE, root=None, **changes)


def result(of: Failure | None, given: ModelAnswer, ending: Ending = UNKNOWN_END) -> Failure:
    new = combined(of, given, ending, 2)
    assert new is not None
    return new


def test_model_decides_where_rules_are_not_confident() -> None:
    new = result(verdict(), answer())
    assert (new.error_type, new.faulty_component, new.restartable) == (ErrorType.USER_SCRIPT, Component.NONE, False)
    assert (new.root, new.source, new.signature, new.revision) == (line(30), "model", "", 2)
    assert new.summary == "The configuration lacks the field width."
    assert new.confidence == shipped()[Band.UNSURE][Certainty.HIGH].confidence


def test_record_keeps_both_opinions() -> None:
    rules, model = result(verdict(), answer()).opinions
    assert (rules.by, rules.error_type, rules.confidence, rules.root) == (
        RULES,
        ErrorType.INFRASTRUCTURE,
        0.6,
        line(20),
    )
    assert (model.by, model.error_type, model.confidence, model.root) == ("m", ErrorType.USER_SCRIPT, 0.9, line(30))
    assert result(verdict(), answer()).confidence_of_rules == 0.6


def test_rules_keep_type_and_root_line_from_the_threshold_upwards() -> None:
    new = result(verdict(confidence=0.7), answer())
    assert (new.error_type, new.root, new.restartable) == (ErrorType.INFRASTRUCTURE, line(20), True)
    assert new.confidence < 0.7
    assert new.summary == "", "the sentence of a model that contradicts the verdict is not its summary"
    assert new.opinions[1].summary


def test_model_decides_restartable_where_it_agrees_on_the_type() -> None:
    agreed = answer((20,), error_type=ErrorType.INFRASTRUCTURE, faulty_component=Component.NETWORK)
    new = result(verdict(confidence=0.8), agreed)
    assert (new.restartable, new.confidence, new.signature) == (False, 0.95, "nccl")


def test_answer_without_a_verdict_of_the_rules_makes_one() -> None:
    new = result(None, answer())
    assert (new.job, new.error_type, new.root, new.final) == ("j", ErrorType.USER_SCRIPT, line(30), False)
    assert new.time == UNKNOWN_END.time
    assert new.opinions[0].error_type is ErrorType.NONE


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({"error_type": ErrorType.UNKNOWN}, (30,)),
        ({"error_type": ErrorType.NONE}, (30,)),
        ({"failed": False}, (30,)),
        ({"faulty_component": Component.GPU}, (30,)),
        ({"error_type": ErrorType.INFRASTRUCTURE}, (30,)),
        ({"error_type": ErrorType.INFRASTRUCTURE, "faulty_component": Component.GPU}, (40,)),
        ({"root": None}, (30,)),
        ({"root": line(40)}, (30,)),
        ({}, (1,)),
        ({"certainty": Certainty.LOW}, (30,)),
    ],
)
def test_answer_that_its_lines_do_not_bear_out_decides_nothing(changes: dict[str, Any], lines: tuple[int, ...]) -> None:
    given = answer(lines, **changes)
    assert combined(None, given, UNKNOWN_END, 2) is None
    new = combined(verdict(), given, UNKNOWN_END, 2)
    assert new is None or (new.error_type, new.root, new.restartable) == (ErrorType.INFRASTRUCTURE, line(20), True)


def test_healthy_run_takes_back_an_unsure_verdict_only_with_a_line_after_it() -> None:
    new = result(verdict(), healthy(50))
    assert (new.error_type, new.restartable, new.root) == (ErrorType.NONE, None, None)
    for weak in (healthy(1), healthy(40), healthy(50, certainty=Certainty.LOW)):
        kept = combined(verdict(), weak, UNKNOWN_END, 2)
        assert kept is None or kept.error_type is ErrorType.INFRASTRUCTURE


@pytest.mark.parametrize("ending", [FAILED_END, UNKNOWN_END._replace(state="FAILED"), UNKNOWN_END._replace(signal=9)])
def test_model_never_hides_a_failure_that_exit_code_or_scheduler_state(ending: Ending) -> None:
    unknown = verdict(
        error_type=ErrorType.UNKNOWN, faulty_component=Component.NONE, confidence=0.2, root=None, evidence=[]
    )
    for of in (verdict(), unknown):
        assert combined(of, healthy(50), ending, 2) is None


def test_evidence_of_nodes_does_not_support_the_cause_of_a_model() -> None:
    of = verdict(node_evidence=True, drain=True, recovery_action=RecoveryAction.GPU_RESET, confirmed_by=["node-logs"])
    new = result(of, answer())
    assert (new.node_evidence, new.drain, new.recovery_action, new.confirmed_by) == (False, None, None, [])
    assert result(msgspec.structs.replace(of, confidence=0.8), answer()).node_evidence


ANSWERS = st.builds(
    lambda lines, **fields: ModelAnswer(
        id="a",
        job="j",
        about="v",
        revision=1,
        time=9.0,
        model="m",
        prompt="2",
        failure=FailureAnswer(**fields),
        lines=lines,
    ),
    lines=st.lists(st.sampled_from([line(each) for each in TEXTS]), max_size=6),
    failed=st.booleans(),
    error_type=st.sampled_from(ErrorType),
    faulty_component=st.sampled_from(Component),
    restartable=st.sampled_from([True, False, None]),
    certainty=st.sampled_from(Certainty),
    root=st.sampled_from([None, *(line(each) for each in TEXTS)]),
    summary=st.text(max_size=300),
)
VERDICTS = st.none() | st.builds(
    verdict,
    error_type=st.sampled_from(ErrorType),
    faulty_component=st.sampled_from(Component),
    confidence=st.floats(0, 1),
    restartable=st.sampled_from([True, False, None]),
    root=st.sampled_from([None, line(20)]),
    final=st.booleans(),
)


@given(VERDICTS, ANSWERS, st.sampled_from([UNKNOWN_END, FAILED_END]))
def test_rules_hold_for_every_answer(of: Failure | None, given: ModelAnswer, ending: Ending) -> None:
    new = combined(of, given, ending, 7)
    assert given.failure is not None
    if new is None:
        return
    assert not objection(given.failure, given.lines, of, ending)
    assert new.revision == 7
    assert [each.by for each in new.opinions] == [RULES, "m"]
    assert new.error_type is not ErrorType.NONE or not ending.is_known
    if band(of) is Band.LIKELY and of is not None:
        assert (new.error_type, new.root, new.faulty_component) == (of.error_type, of.root, of.faulty_component)
    if of is None or of.error_type is ErrorType.NONE:
        assert given.failure.failed
    if given.failure.certainty is Certainty.LOW and of is not None and of.error_type is not ErrorType.NONE:
        assert (new.error_type, new.restartable) == (of.error_type, of.restartable)


def test_docs_print_the_table() -> None:
    docs = (Path(__file__).parents[4] / "docs/models.md").read_text(encoding="utf-8")
    printed = [line.strip("| ").split(" | ") for line in docs.splitlines() if line.startswith("|")]
    for rows in shipped().values():
        for certainty, row in rows.items():
            cells = [
                certainty,
                row.cause,
                row.restartable,
                *map(str, (row.confidence, row.cases, row.rules_right, row.model_right)),
            ]
            assert cells in [each[1:] for each in printed]


def sure(**changes: Any) -> FailureFacts:
    """Return facts with a verdict of which the rules are confident: the cause that `answer` states."""
    right = {
        "confidence": 0.8,
        "error_type": ErrorType.USER_SCRIPT,
        "faulty_component": Component.NONE,
        "restartable": False,
    }
    return FailureFacts(verdict=opinion_of_rules(verdict(**right | changes)))  # fmt: skip


UNSURE = FailureFacts(verdict=opinion_of_rules(verdict()))


def test_model_is_trusted_while_more_than_half_of_its_answers_agree_with_confident_rules() -> None:
    record = TrackRecord(tried=True)

    def trusted(facts: FailureFacts, given: ModelAnswer) -> bool:
        return record.judge(facts, given, lambda _: pytest.fail("a trial question was asked"))

    wrong = answer(error_type=ErrorType.FRAMEWORK)
    assert trusted(UNSURE, wrong), "nothing is known of it yet"
    assert not trusted(sure(), wrong)
    assert not trusted(UNSURE, answer())
    assert not trusted(sure(), answer()), "half of them agree"
    assert trusted(sure(), answer()), "two of three agree"
    assert not trusted(sure(), answer((30,), root=line(40))), "an answer that names no evidence does not agree"
    assert combined(verdict(), msgspec.structs.replace(answer(), trusted=False), UNKNOWN_END, 2) is None


def test_model_is_tried_once_before_an_answer_of_its_own_decides_a_verdict() -> None:
    asked: list[Prompt] = []

    def good(prompt: Prompt) -> dict[str, Any]:
        asked.append(prompt)
        return sensible(prompt)

    record = TrackRecord()
    assert record.judge(sure(), answer(), good)
    assert record.judge(FailureFacts(), healthy(50), good)
    assert asked == [], "the rules decide these verdicts"
    assert record.judge(UNSURE, answer(), good)
    assert record.judge(UNSURE, answer(), good)
    assert len(asked) == ENOUGH
    assert all("Rules found no cause." in each.data for each in asked)


@pytest.mark.parametrize("name", HOSTILE)
def test_harmful_model_is_not_trusted_with_its_first_answer(name: str) -> None:
    passed = sum(TrackRecord().judge(UNSURE, answer(), HOSTILE[name](seed)) for seed in range(200))
    assert passed <= 20


def test_trial_questions_without_an_answer_do_not_count() -> None:
    record = TrackRecord()
    assert record.judge(UNSURE, answer(), lambda _: None)
    assert record.answers == 0


def test_model_cannot_find_a_failure_in_a_run_that_went_on() -> None:
    assert combined(None, answer(progress_after=3), UNKNOWN_END, 2) is None
    assert combined(None, answer(progress_after=2), UNKNOWN_END, 2) is not None
