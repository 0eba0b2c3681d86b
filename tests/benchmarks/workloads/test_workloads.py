"""The reader on source trees that were written for it: benchmarks/workloads."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.workloads import JOBS, matches, write_tree
from processors.advise.metadata import Job
from processors.advise.metadata.budget import Guard
from processors.advise.metadata.reading import workload
from scheduler_bridge.sources.tree import DirectoryTree

MANDATORY = ("model_name", "task_type", "dataset_train", "dataset_valid", "iters", "iter_type")
FIELDS = (*MANDATORY, "batch_size", "lr", "gpus")

Judged = Callable[[int], dict[str, str]]


def _judged(job: dict[str, Any], root: Path) -> dict[str, str]:
    tree = write_tree(root, job["tree"])
    guard = Guard()
    answer = workload(
        DirectoryTree(tree), Job(tree, tree / job["directory"], job["command"], job["devices"], job["nodes"]), guard
    )
    assert guard.failed == {}
    found: dict[str, str] = {}
    for field in FIELDS:
        value = getattr(answer, field)
        right = any(matches(value, each) for each in job["accepted"][field])
        found[field] = "right" if right else "missing" if value is None else f"wrong: {value}"
    return found


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """What is found of the job at a place in `JOBS`: each is read once."""
    root = tmp_path_factory.mktemp("trees")
    return functools.cache(lambda place: _judged(JOBS[place], root / str(place)))


def test_matches_tell_answers_apart() -> None:
    assert matches("org/Some-Model", "some model")
    assert matches("x_ffhq64", "~ffhq")
    assert not matches("resnet18", "resnet50")
    assert not matches(None, "x")
    assert not matches(12, 13)


@pytest.mark.parametrize(
    "place", range(len(JOBS)), ids=[f"{each['tree']}-{number}" for number, each in enumerate(JOBS)]
)
def test_no_answer_is_wrong(place: int, judged: Judged) -> None:
    wrong = {field: each for field, each in judged(place).items() if each.startswith("wrong")}
    assert wrong == {}


def test_most_jobs_are_known_wholly(judged: Judged) -> None:
    found = [judged(place) for place in range(len(JOBS))]
    whole = sum(all(each[field] == "right" for field in MANDATORY) for each in found)
    assert whole / len(JOBS) >= 0.85  # some trees are there for what nothing reads, where unknown is right
    for field in FIELDS:
        assert sum(each[field] == "right" for each in found) / len(JOBS) >= 0.85, field
