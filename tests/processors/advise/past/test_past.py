"""Estimates from jobs that ended."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.advise.past import MemoryHistory, PastEstimator, PastJob, SubmittedJob
from processors.advise.past.command_line import fingerprint, scale
from processors.advise.past.embedding import DIMENSIONS, embed_command, embed_workload
from processors.advise.past.vectors import VectorIndex
from schedmate_records import Workload


def job(command: str, directory: str = "/home/ada/p", name: str = "new", **fields: Any) -> SubmittedJob:
    return SubmittedJob(job=name, command=command, directory=directory, **fields)


def past(name: str, command: str, duration_s: float, directory: str = "/home/ada/p", **fields: object) -> PastJob:
    return PastJob(about=job(command, directory, name), ended=float(name), duration_s=duration_s, **fields)  # type: ignore[arg-type]


def estimator(*jobs: PastJob) -> PastEstimator:
    history = MemoryHistory()
    for one in jobs:
        history.add(one)
    return PastEstimator(history)


def test_modes_are_of_all_earlier_runs() -> None:
    failed = [past(f"{number}", "python train.py", 20.0 + number, completed=False) for number in range(3)]
    whole = [past(f"{9 + number}", "python train.py", 20_000.0 + number) for number in range(7)]
    found = estimator(*failed, *whole).estimate(job("python train.py"))
    assert [(each.share, round(each.low_s), round(each.high_s)) for each in found.modes] == [
        (0.3, 20, 22),
        (0.7, 20_000, 20_006),
    ]
    assert estimator(*whole).estimate(job("python train.py")).modes == ()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("python train.py --lr 0.1", "python train.py --lr 3e-4", True),
        ("python train.py model=vit lr=0.1", "python train.py model=resnet lr=1", True),
        ("python train.py --seed=1", "python train.py --seed=2", True),
        ("python train.py --lr 0.1", "python eval.py --lr 0.1", False),
        ("python train.py --data imagenet", "python train.py --data cifar", False),
        ("python 'train.py", "python 'train.py", True),
    ],
)
def test_a_fingerprint_is_the_command_without_its_hyper_parameters(one: str, other: str, same: bool) -> None:
    assert (fingerprint(one) == fingerprint(other)) is same


@pytest.mark.parametrize(
    ("now", "before", "ratio"),
    [
        ("t.py --epochs 20", "t.py --epochs 10", 2.0),
        ("t.py trainer.max_steps=500", "t.py trainer.max_steps=1000", 0.5),
        ("t.py --warmup_steps 20", "t.py --warmup_steps 10", 1.0),
        ("t.py --epochs 20", "t.py", 1.0),
        ("t.py --epochs 20 --steps 5", "t.py --epochs 10 --steps 15", 1.0),
        ("t.py --epochs 0", "t.py --epochs 0", 1.0),
    ],
)
def test_another_length_scales(now: str, before: str, ratio: float) -> None:
    assert scale(now, before) == ratio


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_a_command(one: str, other: str) -> None:
    assert isinstance(fingerprint(one), str)
    assert scale(one, other) > 0
    assert np.linalg.norm(embed_command(job(one, other))) in (0.0, pytest.approx(1.0, abs=1e-5))


def test_a_resubmission_answers_from_its_own_runs_that_ended_well() -> None:
    found = estimator(
        past("1", "train.sh --lr 1", 3600.0, gpu_utilisation=80.0),
        past("2", "train.sh --lr 1", 4000.0, gpu_utilisation=90.0),
        past("3", "train.sh --lr 1", 5.0, completed=False),
        past("4", "train.sh --lr 2", 99.0),
    ).estimate(job("train.sh --lr 1"))
    assert (found.method, found.jobs, found.gpu_utilisation) == ("resubmission", ("2", "1"), 85.0)
    assert found.duration_s == pytest.approx(3795, rel=0.01)
    assert found.low_s is not None
    assert found.high_s is not None
    assert found.low_s < 3600
    assert found.high_s > 4000


def test_other_hyper_parameters_are_a_resubmission_and_other_epochs_scale() -> None:
    found = estimator(past("1", "train.sh --lr 1 --epochs 10", 1000.0)).estimate(job("train.sh --lr 2 --epochs 30"))
    assert (found.method, found.jobs) == ("resubmission", ("1",))
    assert found.duration_s == pytest.approx(3000, rel=0.01)


def test_another_branch_is_another_job_but_of_the_same_fingerprint() -> None:
    runs = [past("1", "train.sh", 100.0), past("2", "train.sh", 900.0)]
    runs[1] = PastJob(about=job("train.sh", name="2", branch="fast"), ended=2.0, duration_s=900.0)
    assert estimator(*runs).estimate(job("train.sh", branch="fast")).jobs == ("2",)
    assert estimator(*runs).estimate(job("train.sh", branch="new")).jobs == ("2", "1")


def test_jobs_alike_elsewhere_answer_and_unlike_ones_do_not() -> None:
    command = (
        "python -m torch.distributed.run --nproc_per_node 8 train_vit.py --data imagenet --arch vit_base --lr 0.{}"
    )
    alike = [past(str(n), command.format(n), 3600.0 + n, f"/home/u{n}/vit") for n in range(1, 5)]
    other = past("9", "python sweep_bert.py --task glue --config base.yaml", 60.0, "/home/bob/nlp")
    found = estimator(*alike, other).estimate(job(command.format(7), "/home/ada/vit"))
    assert found.method == "similar"
    assert len(found.jobs) == 3
    assert set(found.jobs) <= {"1", "2", "3", "4"}
    assert found.duration_s == pytest.approx(3602, rel=0.01)


def test_what_nothing_is_like_is_unknown() -> None:
    found = estimator(past("1", "python sweep_bert.py --task glue", 60.0)).estimate(
        job("julia plasma.jl", "/scratch/x")
    )
    assert (found.method, found.duration_s, found.low_s, found.jobs) == ("unknown", None, None, ())
    assert estimator().estimate(SubmittedJob(job="7")).method == "unknown"


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=20))
def test_the_interval_holds_the_estimate(durations: Sequence[float]) -> None:
    found = estimator(*(past(str(n), "a.sh", seconds) for n, seconds in enumerate(durations))).estimate(job("a.sh"))
    assert found.duration_s is not None
    assert found.low_s is not None
    assert found.high_s is not None
    assert 0 <= found.low_s <= found.duration_s <= found.high_s


def test_the_search_is_exact_and_forgets_the_oldest() -> None:
    generator, index = np.random.default_rng(7), VectorIndex(most=2000)
    made = generator.normal(size=(5000, DIMENSIONS)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    places = [index.add(row) for row in made]
    cosines = made[3000:] @ made[4321]
    expected = [places[3000 + each] for each in np.argsort(-cosines)[:3]]
    assert [place for place, _ in index.nearest(made[4321], 3, -1.0)] == expected
    assert index.nearest(made[10], 3, 0.9) == []
    assert [cosine for _, cosine in index.nearest(made[4321], 1, 0.9)] == [pytest.approx(1.0)]


VIT = Workload(
    model_name="vit_base_patch16",
    task_type="image-classification",
    dataset_train="ImageNet",
    iters=90.0,
    iter_type="epoch",
    batch_size=256.0,
    lr=3e-4,
)


def trained(name: str, duration_s: float, workload: Workload | None, command: str = "python main.py") -> PastJob:
    about = job(command, f"/home/u{name}/{name}", name, workload=workload)
    return PastJob(about=about, ended=float(name), duration_s=duration_s)


def test_metadata_records_find_what_command_lines_do_not_and_scale_by_length() -> None:
    known = estimator(
        trained("1", 9000.0, msgspec.structs.replace(VIT, lr=1e-3)),
        trained(
            "2", 60.0, msgspec.structs.replace(VIT, model_name="lstm", task_type="time-series", dataset_train="traffic")
        ),
    )
    asked = job("bash other.sh", "/scratch/new", workload=msgspec.structs.replace(VIT, iters=180.0))
    found = known.estimate(asked)
    assert (found.method, found.jobs) == ("similar", ("1",))
    assert found.duration_s == pytest.approx(18_000, rel=0.01)
    assert known.estimate(msgspec.structs.replace(asked, workload=None)).method == "unknown"


def test_of_records_alike_the_one_of_like_length_is_nearest() -> None:
    far, near = msgspec.structs.replace(VIT, iters=2.0, batch_size=8.0), msgspec.structs.replace(VIT, iters=100.0)
    history = MemoryHistory()
    for past_job in (trained("1", 10.0, near), trained("2", 10.0, far)):
        history.add(past_job)
    found = history.similar(job("x", workload=VIT), 3, 0.9)
    assert [one.about.job for one, _ in found] == ["1", "2"]


def test_a_record_is_never_compared_with_a_command_line() -> None:
    same = "python -m torch.distributed.run train_vit.py --data imagenet --arch vit_base"
    known = estimator(trained("1", 60.0, None, same))
    assert known.estimate(job(same, "/data/u1/1", workload=VIT)).method == "unknown"
    assert known.estimate(job(same, "/data/u1/1")).method == "similar"


@pytest.mark.parametrize(
    "told",
    [Workload(), Workload(task_type="other", iter_type="epoch", gpus=8), Workload(model_name="vit", iter_type="step")],
)
def test_a_record_that_says_too_little_is_none(told: Workload) -> None:
    assert not embed_workload(told).any()
    assert estimator(trained("1", 60.0, told)).estimate(job("unlike", "/x/y", workload=told)).method == "unknown"


@given(st.text(max_size=400), st.text(max_size=400), st.floats(allow_nan=True, allow_infinity=True))
def test_any_record_is_a_unit_vector_or_none(model: str, task: str, number: float) -> None:
    vector = embed_workload(Workload(model_name=model, task_type=task, iters=number, batch_size=number, lr=number))
    assert np.linalg.norm(vector) in (0.0, pytest.approx(1.0, abs=1e-5))


def test_a_length_that_differs_beyond_reason_does_not_break_the_estimate() -> None:
    known = estimator(trained("1", 60.0, msgspec.structs.replace(VIT, iters=1e-300)))
    found = known.estimate(job("x", "/a/b", workload=VIT))
    assert found.duration_s is not None
    assert found.duration_s < 1e9


def test_the_time_limit_bounds_an_estimate() -> None:
    history = estimator(past("1", "t.py", 4000), past("2", "t.py", 8000))
    free, bound = (history.estimate(job("t.py", time_limit_s=limit)) for limit in (0.0, 3600.0))
    assert free.high_s is not None
    assert free.high_s > 8000
    assert (bound.duration_s, bound.high_s) == (3660, 3660)
    assert bound.low_s is not None
    assert bound.low_s <= 3660
