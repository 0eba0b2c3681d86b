"""Trial questions: failures with a known cause, by which a model is tried before its answers decide verdicts."""

from collections.abc import Iterator
from importlib import resources

import msgspec

from schedmate_records import (
    RULES,
    Component,
    ErrorType,
    Evidence,
    FailureFacts,
    ModelQuestion,
    Opinion,
    QuestionKind,
    Sample,
)

from ...prompts import PreparedQuestion
from .prompt import prepare


class _Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A log and its cause."""

    error_type: ErrorType
    faulty_component: Component
    lines: list[str]


class _Cases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cases: list[_Case]


def trial_questions() -> Iterator[tuple[FailureFacts, PreparedQuestion]]:
    """Yield each trial question, with facts that hold the right verdict. The prompt does not show it."""
    text = resources.files(__package__).joinpath("trial.toml").read_bytes()
    for number, case in enumerate(msgspec.toml.decode(text, type=_Cases).cases):
        lines = [
            Sample(
                line=Evidence(topic="trial", partition=0, offset=0, line=place, text=text, rank=0, stream="stderr"),
                time=0.0,
            )
            for place, text in enumerate(case.lines, start=1)
        ]  # fmt: skip
        right = Opinion(by=RULES, error_type=case.error_type, faulty_component=case.faulty_component, confidence=1.0)
        facts = FailureFacts(exit_code=1, verdict=right)
        question = ModelQuestion(
            id=f"trial/{number}", job="", kind=QuestionKind.FAILURE, time=0.0, stream="stderr", failure=facts
        )
        prepared = prepare(question, lines)
        assert prepared is not None
        yield facts, prepared
