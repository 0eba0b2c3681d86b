"""Agreement, job by job, with a published simulator on Helios Venus, September 2020. The trace is not part of this project."""

from collections.abc import Callable
from pathlib import Path

import pytest

from simulate.policies.ordered import fifo, sjf
from simulate.policies.srtf import Srtf
from simulate.reading import rows
from simulate.replay import Scenario, replay
from simulate.simulation import Policy
from simulate.traces import read_jobs, read_nodes

VENUS = Path(__file__).resolve().parents[3] / "shared" / "traces" / "helios-venus"
pytestmark = pytest.mark.skipif(not VENUS.exists(), reason="the trace is not here")


@pytest.mark.parametrize(
    ("name", "make", "mean"), [("fifo", fifo, 65_721), ("sjf", sjf, 21_095), ("srtf", Srtf, 12_610)]
)
def test_every_start_and_end_agrees(name: str, make: Callable[[], Policy], mean: int) -> None:
    scenario = Scenario(
        jobs=read_jobs(VENUS / "venus_2020-09_all_vcs.csv.gz"), nodes=read_nodes(VENUS / "vc_config.csv")
    )
    runs = replay(scenario, make).runs
    reference = {
        row.text("job_id"): (row.number("start_s"), row.number("jct_s"), row.number("queue_s"))
        for row in rows(VENUS / "venus_2020-09_reference_outcomes_fifo_sjf_srtf.csv.gz")
        if row.text("scheduler") == name
    }
    ours = {run.job.job_id: (run.first_start, (run.ended or 0) - run.job.submit_s, run.queued) for run in runs}
    assert ours == reference
    assert round(sum(jct for _, jct, _ in ours.values()) / len(ours)) == mean
