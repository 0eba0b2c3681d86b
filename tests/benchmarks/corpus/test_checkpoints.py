"""What the corpus tells of checkpoints, against its labels."""

import pytest

from benchmarks.corpus.checkpoints import HALVES, KINDS, half, labels, score
from benchmarks.corpus.plan import LOGS


def test_every_label_names_a_log() -> None:
    logs = {f"{folder.parent.name}/{folder.name}" for folder in LOGS.glob("*/*")}
    assert set(labels()) <= logs
    assert {label.what for lines in labels().values() for label in lines.values()} <= set(KINDS)
    assert {half(log.split("/")[0]) for log in labels()} == set(HALVES)


@pytest.mark.slow  # reads 200 logs
def test_what_is_found_is_right() -> None:
    for name in HALVES:
        counts = score(name, verbose=False)
        right, extra, missed = (sum(each.values()) for each in (counts.right, counts.extra, counts.missed))
        assert counts.logs >= 100
        assert extra <= 0.05 * right
        assert missed <= 0.35 * (right + missed)
        assert counts.wrong_steps == 0
