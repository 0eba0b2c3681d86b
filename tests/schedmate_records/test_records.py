"""The wire forms: stable, documented, tolerant."""

import msgspec
import pytest

from schedmate_records import (
    BY_NAME,
    TOPICS,
    Component,
    ErrorType,
    Evidence,
    Failure,
    FailureSource,
    InvalidRecord,
    LogChunk,
    Position,
    Record,
    decision_id,
    decode,
    derived_id,
    encode,
    identified,
)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_every_record_has_a_schema_with_its_key(topic: object) -> None:
    entry = BY_NAME[topic.name]  # type: ignore[attr-defined]
    definition = msgspec.json.schema(entry.record)["$defs"][entry.record.__name__]
    assert entry.key in definition["properties"] or isinstance(getattr(entry.record, entry.key), property)
    assert definition["properties"]["v"] == {"type": "integer", "default": 1}
    assert definition["description"]


def test_a_record_survives_the_wire() -> None:
    chunk = LogChunk(
        job="1", lines=["a\r", "b", "\x00\\xff"], time=3.25, after_ms=[0, 1, 2], cut=[1], first_piece=4, first_line=2
    )
    assert decode(LogChunk, encode(chunk)) == chunk


def test_a_record_of_another_type_is_refused() -> None:
    with pytest.raises(InvalidRecord, match="expected a LogChunk"):
        decode(LogChunk, b'{"job": 5}')


def test_ids_follow_from_the_place_alone() -> None:
    place = Position("job-logs", 2, 17)
    assert derived_id("failure", "41", place, 3) == "failure/41/job-logs/2/17/3"
    assert (
        len(
            {
                derived_id(kind, job, Position("t", part, at), line)
                for kind in "ab"
                for job in "12"
                for part in (0, 1)
                for at in (0, 1)
                for line in (0, 1)
            }
        )
        == 32
    )
    assert decision_id("restart", "41", 0, "xid-79") == decision_id("restart", "41", 0, "xid-79")


def test_how_far_the_training_came_is_no_part_of_a_verdicts_id() -> None:
    """So verdicts that were written before it was known keep theirs."""
    verdict = Failure(
        id="",
        job="7",
        attempt=1,
        time=100.0,
        message="GPU has fallen off the bus",
        error_type=ErrorType.INFRASTRUCTURE,
        faulty_component=Component.GPU,
        restartable=True,
        confidence=0.97,
        source=FailureSource.SIGNATURE,
        signature="xid_fallen_off_bus",
        root=Evidence(topic="job-logs", partition=0, offset=3, line=7, text="x"),
    )
    further = msgspec.structs.replace(verdict, step=20, epoch=1.0)
    assert identified(verdict).id == identified(further).id == "failure/7/1/job-logs/0/3/7/dde6a5979564a8b9"


def test_all_records_are_frozen() -> None:
    assert all(issubclass(topic.record, Record) and topic.record.__struct_config__.frozen for topic in TOPICS)


def test_a_source_that_nobody_wrote_is_refused() -> None:
    with pytest.raises(InvalidRecord, match="expected a Failure"):
        decode(
            Failure, b'{"id": "f", "job": "1", "time": 1, "message": "m", "error_type": "other", "source": "a guess"}'
        )
