from pathlib import Path

from benchmarks.simulate.resubmissions import resubmission_delays


def test_delays_run_from_a_failure_to_the_next_submission_of_as_many_gpus(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text(
        "user,gpu_num,submit_s,duration,state\n"
        "ada,1,0,100,FAILED\n"  # again at 130
        "ada,2,110,10,COMPLETED\n"  # another size
        "bob,1,120,10,COMPLETED\n"  # another user
        "ada,1,130,70,NODE_FAIL\n"  # never within a day
        "ada,1,900000,10,FAILED\n",  # never
    )
    assert list(resubmission_delays(trace)) == [30]
