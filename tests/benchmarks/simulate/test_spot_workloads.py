import pytest

from benchmarks.simulate.spot_workloads import SpotTrial
from schedmate.simulate.cluster import NodeSpec
from tests.schedmate.simulate.running import job


@pytest.mark.parametrize(
    ("duration_s", "counts_from_s", "contended"),
    [(100, 0, True), (50, 0, False), (100, 60, False)],
    ids=["both at once", "one after the other", "both at once before the window"],
)
def test_a_draw_is_contended_if_jobs_ask_for_more_gpus_than_there_are(
    duration_s: float, counts_from_s: float, contended: bool
) -> None:
    jobs = [job("first", 0, duration_s, 8), job("second", 50, 20, 8), job("last", 200, 10, 8)]
    assert SpotTrial(jobs, {}, [NodeSpec()], counts_from_s).contended is contended
