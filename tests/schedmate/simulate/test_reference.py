"""Agreement, job by job, with a published simulator on Helios Venus, September 2020. The trace is not part of this project."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from schedmate.simulate.estimates import with_estimates
from schedmate.simulate.outcomes import completion_times
from schedmate.simulate.policies.ordered import fifo, sjf
from schedmate.simulate.policies.qssf import Qssf
from schedmate.simulate.policies.srtf import Srtf
from schedmate.simulate.policies.tiresias import Tiresias
from schedmate.simulate.reading import rows
from schedmate.simulate.replay import Scenario, replay
from schedmate.simulate.simulation import Policy
from schedmate.simulate.traces import read_estimates, read_jobs, read_nodes

TRACES = Path(__file__).resolve().parents[4] / "shared" / "traces"
VENUS = TRACES / "helios-venus"
ESTIMATES = TRACES / "lucid" / "venus_sept_priority_ebm.csv.gz"
"""What the estimator of Lucid (an explainable boosting machine) said of each job."""
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not VENUS.exists(), reason="the trace is not here")]


Outcome = tuple[float | None, float, float]
"""Start, completion time and wait, in seconds."""


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return Scenario(jobs=read_jobs(VENUS / "venus_2020-09_all_vcs.csv.gz"), nodes=read_nodes(VENUS / "vc_config.csv"))


@pytest.fixture(scope="module")
def reference() -> dict[str, dict[str, Outcome]]:
    found: dict[str, dict[str, Outcome]] = {}
    for row in rows(VENUS / "venus_2020-09_reference_outcomes_fifo_sjf_srtf.csv.gz"):
        outcome = row.number("start_s"), row.number("jct_s"), row.number("queue_s")
        found.setdefault(row.text("scheduler"), {})[row.text("job_id")] = outcome
    return found


@pytest.mark.parametrize(("name", "make"), [("fifo", fifo), ("sjf", sjf), ("srtf", Srtf)])
def test_every_start_and_end_agrees(
    name: str, make: Callable[[], Policy], scenario: Scenario, reference: dict[str, dict[str, Outcome]]
) -> None:
    runs = replay(scenario, make).runs
    ours = {run.job.job_id: (run.first_start, (run.ended or 0) - run.job.submit_s, run.queued) for run in runs}
    assert ours == reference[name]


def test_the_mean_of_qssf_agrees_with_their_estimates(scenario: Scenario) -> None:
    estimates = read_estimates(ESTIMATES)
    guided = msgspec.structs.replace(scenario, jobs=with_estimates(scenario.jobs, estimates))
    assert round(completion_times(replay(guided, Qssf).runs).mean()) == 15_549


def test_the_mean_of_tiresias_agrees(scenario: Scenario) -> None:
    assert round(completion_times(replay(scenario, Tiresias).runs).mean()) == 14_700
