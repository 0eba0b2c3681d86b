"""The benchmark of memory, and what it promises, on short logs and small caches."""

import msgspec
import pytest

from benchmarks.lines import CHUNK
from benchmarks.memory import distinct, measure
from processors.classify.classifier import LineClassifier
from processors.classify.fallback import ModelClassifier
from processors.diagnose import matcher
from processors.diagnose.stage import Diagnosis
from processors.grammar.extractor import Extractor, templates
from processors.job import JobProcessor
from processors.state import JobState
from processors.stream_reader import StreamReader
from processors.track.tracker import MetricTracker
from schedmate_records import Position
from tests.metric_values import value

SIZE = 40
"""Small: of one job's lines that all differ the budget for new text reads some hundred."""


def test_every_line_is_of_another_template() -> None:
    lines = [line for chunk in distinct("job", 4) for line in chunk.lines]
    assert len(set(templates(lines))) == len(lines) == 4 * CHUNK


def test_caches_and_state_stay_at_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matcher, "TEMPLATES", SIZE)
    extractor = Extractor(SIZE)
    tracker = MetricTracker(extractor=extractor)
    processor = JobProcessor(StreamReader(LineClassifier(ModelClassifier(), SIZE), tracker))
    state, sizes = JobState(job="job"), []
    for offset, chunk in enumerate(distinct("job", 8)):
        processor.process(state, Position("job-logs", 0, offset), chunk)
        sizes.append(len(msgspec.json.encode(state)))
    assert value(processor.reader.classifier.metrics.templates) >= 4 * SIZE
    assert processor.reader.classifier.remembered <= 2 * SIZE
    assert extractor.remembered <= 2 * SIZE
    assert processor.stage(Diagnosis).handler.remembered <= SIZE
    assert max(sizes) < 40_000
    assert sizes[-1] < 1.5 * sizes[3]


def test_it_says_what_it_measured() -> None:
    rows = measure(CHUNK)
    assert [what.split(" ")[0] for what, _ in rows] == ["memory"] * 3
    assert all("MB" in figure for _, figure in rows)
