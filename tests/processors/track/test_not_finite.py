import pytest

from processors.classified_chunk import ClassifiedChunk
from processors.track.not_finite import begins_at, is_not_finite
from schedmate_records import Position


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("step 3 | loss nan | 0.25 s/it", True),
        ("{'loss': -inf, 'step': 3}", True),
        ("train_loss=Infinity", True),
        ("Loss (smoothed): NaN", True),
        ("loss 2.5 grad_norm nan", False),
        ("grad_norm inf loss 2.5", False),
        ("loss of information 3", False),
        ("step 3 of 4", None),
    ],
)
def test_whether_a_line_tells_of_one(line: str, told: bool | None) -> None:
    assert is_not_finite(line) is told


@pytest.mark.parametrize(
    ("lines", "classes", "place"),
    [
        (["loss 2", "loss nan", "saved", "loss nan"], "ppop", 1),
        (["loss nan", "loss 2", "loss nan"], "ppp", 2),
        (["loss nan", "loss 2"], "pp", None),
        (["loss nan", "step 3"], "pp", 0),
        (["step 3"], "p", None),
        ([], "", None),
    ],
)
def test_where_it_began(lines: list[str], classes: str, place: int | None) -> None:
    view = ClassifiedChunk(
        "j",
        0,
        "n1",
        0,
        "stdout",
        Position("job-logs", 0, 0),
        0.0,
        lines,
        range(1, 1 + len(lines)),
        [0.0] * len(lines),
        classes,
        lines,
    )
    assert begins_at(view) == place
