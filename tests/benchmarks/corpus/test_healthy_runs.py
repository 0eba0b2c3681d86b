"""No alarm on real runs that went well: those of the corpus, as their pipes would have shipped them."""

import pytest

from benchmarks.corpus.plan import LOGS
from benchmarks.corpus.score import stream_chunks
from processors.job import JobProcessor
from processors.state import JobState
from schedmate_records import Alarm, Position


@pytest.mark.slow
def test_real_runs_raise_no_alarm() -> None:
    processor, raised, runs = JobProcessor(), [], 0
    for folder in sorted(LOGS.glob("*/*")):
        state, runs = JobState(job=folder.name), runs + 1
        for offset, chunk in enumerate(stream_chunks(folder)):
            made = processor.process(state, Position("job-logs", 0, offset), chunk)
            raised += [(folder.name, each.detail) for each in made if isinstance(each, Alarm)]
    assert runs > 100
    assert not raised
