import json

import hypothesis.strategies as st
import pytest
from hypothesis import given

from streams.producers.environment import Identity, UnknownJob, identify


def identified(env: dict[str, str], **flags: object) -> Identity:
    return identify(env, hostname=lambda: "gpu7.cluster.example", **flags)  # type: ignore[arg-type]


def fields(identity: Identity) -> tuple[str, int, str, int]:
    return identity.job, identity.attempt, identity.node, identity.rank


def test_slurm() -> None:
    env = {"SLURM_JOB_ID": "4711", "SLURM_RESTART_COUNT": "2", "SLURM_PROCID": "5", "SLURMD_NODENAME": "n3"}
    assert fields(identified(env)) == ("4711", 2, "n3", 5)


def test_an_array_task_goes_by_the_name_that_slurm_events_give_it() -> None:
    env = {"SLURM_JOB_ID": "4713", "SLURM_ARRAY_JOB_ID": "4711", "SLURM_ARRAY_TASK_ID": "2"}
    assert identified(env).job == "4711_2"


def test_torchrun_inside_slurm_has_its_own_ranks_and_slurms_attempts() -> None:
    env = {"SLURM_JOB_ID": "1", "SLURM_PROCID": "1", "RANK": "11", "TORCHELASTIC_RESTART_COUNT": "3"}
    assert fields(identified(env)) == ("1", 0, "gpu7", 11)


def test_torchrun_alone() -> None:
    env = {"RANK": "1", "TORCHELASTIC_RESTART_COUNT": "3", "TORCHELASTIC_RUN_ID": "mine"}
    assert fields(identified(env)) == ("mine", 3, "gpu7", 1)
    with pytest.raises(UnknownJob, match="--job"):
        identified({"TORCHELASTIC_RUN_ID": "none"})


@pytest.mark.parametrize("name", ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK"])
def test_mpi(name: str) -> None:
    assert identified({name: "6", "SLURM_PROCID": "0"}, job="j").rank == 6


def test_ray() -> None:
    assert identified({"RAY_JOB_ID": "01000000"}).job == "01000000"
    config = json.dumps({"metadata": {"job_submission_id": "raysubmit_1"}})
    assert identified({"RAY_JOB_ID": "01000000", "RAY_JOB_CONFIG_JSON_ENV_VAR": config}).job == "raysubmit_1"


def test_what_is_passed_wins() -> None:
    env = {"SLURM_JOB_ID": "1", "SLURM_RESTART_COUNT": "2", "SLURM_PROCID": "x", "SLURMD_NODENAME": "n"}
    assert fields(identified(env, job="9", attempt=0, node="m", rank=4)) == ("9", 0, "m", 4)


@pytest.mark.parametrize(
    ("env", "whole"),
    [
        ({}, True),
        ({"RAY_JOB_ID": "01"}, True),
        ({"WORLD_SIZE": "1", "RANK": "0"}, True),
        ({"WORLD_SIZE": "2", "RANK": "0"}, False),
        ({"RANK": "0"}, False),
        ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4"}, False),
        ({"PMI_RANK": "0", "PMI_SIZE": "1"}, True),
        ({"PMIX_RANK": "0"}, False),
        ({"SCHEDMATE_RANK": "0"}, False),
        ({"SLURM_JOB_ID": "9"}, True),  # in an allocation, under an id of its own
        ({"SLURM_JOB_ID": "j"}, False),  # Slurm itself says when this one ends
        ({"SLURM_JOB_ID": "9", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "8"}, False),
    ],
)
def test_a_pipe_speaks_for_the_whole_job_only_where_nobody_else_does(env: dict[str, str], whole: bool) -> None:
    assert identified(env, job="j").whole is whole


def test_one_of_many_ranks_is_not_the_job() -> None:
    one = identified({}, job="j", rank=0)
    assert (one.whole, one.part) == (False, True), "its pipe reports the rank"
    scheduled = identified({"SLURM_JOB_ID": "9", "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "8"})
    assert (scheduled.whole, scheduled.part) == (False, False)


def test_errors_say_what_to_do() -> None:
    with pytest.raises(UnknownJob, match="pass --job"):
        identified({})
    with pytest.raises(UnknownJob, match=r"expected a number in RANK, got 'two'.*--rank"):
        identified({"RANK": "two"}, job="1")


@given(
    st.dictionaries(st.sampled_from(["RAY_JOB_CONFIG_JSON_ENV_VAR", "RANK", "SLURM_JOB_ID", "RAY_JOB_ID"]), st.text())
)
def test_any_environment_gives_an_identity_or_one_clear_error(env: dict[str, str]) -> None:
    number = env.get("RANK", "")
    if (number and not (number.isascii() and number.isdecimal() and len(number) <= 18)) or not any(
        env.get(name) for name in ("SLURM_JOB_ID", "RAY_JOB_ID")
    ):
        with pytest.raises(UnknownJob, match="pass --"):
            identified(env)
    else:
        assert identified(env).job in (env.get("SLURM_JOB_ID"), env.get("RAY_JOB_ID"))


def test_a_job_of_a_named_slurm_cluster_has_its_name() -> None:
    env = {"SLURM_JOB_ID": "4711", "SLURM_CLUSTER_NAME": "beta"}
    array = env | {"SLURM_ARRAY_JOB_ID": "4711", "SLURM_ARRAY_TASK_ID": "2"}
    assert identified(env).job == "4711"
    assert identified(env, clusters=["gamma"]).job == "4711"
    assert (identified(env, clusters=["beta"]).job, identified(array, clusters=["beta"]).job) == (
        "beta/4711",
        "beta/4711_2",
    )
    assert identified(env | {"SCHEDMATE_SLURM__CLUSTERS": "gamma, beta"}).job == "beta/4711"
    assert identified(env, clusters=["beta"], job="7").job == "7"
    assert not identified(env, clusters=["beta"]).whole
