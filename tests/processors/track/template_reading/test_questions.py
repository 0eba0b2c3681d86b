"""When a stream whose lines tell no speed raises a question, and which of its templates a model is asked about."""

from processors.track.template_reading import TemplateQuestions, prepare, template_question
from processors.track.template_reading.questions import FIRST_LOOK, QUESTIONS, TEMPLATES
from schedmate_records import Evidence, LogChunk, ModelQuestion, Position, Sample


def asked(state: TemplateQuestions) -> ModelQuestion:
    chunk = LogChunk(job="j", rank=1, lines=["x"], time=5.0)
    return template_question(chunk, Position("job-logs", 3, 40 + state.asked), state)


def lines(word: str, count: int) -> list[Sample]:
    return [
        Sample(line=Evidence(topic="t", partition=0, offset=0, line=at, text=f"{word} {at} tick 1.00"), time=100.0 + at)
        for at in range(1, count + 1)
    ]


def test_each_question_needs_twice_the_lines_of_the_one_before_and_they_end() -> None:
    state = TemplateQuestions()
    counts = range(FIRST_LOOK * 16 + 1)
    seen = [(count, asked(state).id) for count in counts if state.due(count, 1)]
    assert [count for count, _ in seen] == [FIRST_LOOK << number for number in range(5)]
    assert len({id_ for _, id_ in seen}) == len(seen)
    while state.due(1 << 60, 1 << 60):
        asked(state)
    assert state.asked == QUESTIONS


def test_nothing_more_is_asked_once_enough_was_answered() -> None:
    state = TemplateQuestions()
    for key in ("a", "b", "b", "c"):
        assert state.due(10_000, 9_000)
        state.on_answer(key)
    assert len(state.answered) == TEMPLATES
    assert not state.due(10_000, 9_000)


def test_a_stream_is_looked_at_seldom() -> None:
    """Whether its lines tell a speed takes longer than all else."""
    state = TemplateQuestions()
    assert sum(state.due(count, 10) for count in range(10, 100_001, 10)) == 12


def test_the_most_frequent_template_that_was_not_answered_is_asked_about() -> None:
    log = [*lines("zug", 30), *lines("zag", 20), *lines("zig", 11)]
    state, said = TemplateQuestions(), list[str]()
    while (prepared := prepare(asked(state), log)) is not None:
        said.append(prepared.draft.samples[0].line.text.split()[0])
        state.on_answer(prepared.prompt.key)
    assert said == ["zug", "zag"], "of the third there are too few"
