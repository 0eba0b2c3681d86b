"""The profile that Lucid gives jobs before it queues them."""

from benchmarks.simulate.packing import PROFILE_S, _profile
from tests.schedmate.simulate.running import job


def test_jobs_are_queued_after_their_profile_unless_a_similar_one_is_known() -> None:
    jobs = [job("short", 0, 50, 8), job("long", 0, 5000, 8), job("known", 0, 5000, 8), job("large", 0, 5000, 16)]
    completion, queued = _profile(jobs, {"known"})
    assert completion == [50]
    assert {each.job_id: each.submit_s for each in queued} == {"long": PROFILE_S, "known": 0, "large": 0}


def test_a_third_job_waits_for_a_node_of_the_profiler() -> None:
    _, queued = _profile([job(name, 0, 5000, 8) for name in ("a", "b", "c")], set())
    assert [each.submit_s for each in queued] == [PROFILE_S, PROFILE_S, 2 * PROFILE_S]
