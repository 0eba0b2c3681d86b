"""Reading a tree takes at most two seconds and 200 MB, whatever it holds; a part that fails leaves the others."""

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from processors.advise.metadata import Job
from processors.advise.metadata.budget import Guard, Stopped, step
from processors.advise.metadata.reading import workload as read
from schedmate_records import Workload
from scheduler_bridge.sources.tree import DirectoryTree
from scheduler_bridge.sources.workload import Answer, ask, extract

from .hostile_trees import CUT, TRAINING, TREES
from .trees import grown, workload

KNOWN = Workload(
    task_type="image-classification", dataset_train="CIFAR10", iters=7.0, iter_type="epoch", batch_size=64.0, lr=0.25, gpus=1
)  # fmt: skip
MEASURED = """
import json, resource, subprocess, sys
done = subprocess.run([sys.executable, "-I", "-m", "scheduler_bridge.sources.read_workload"], input=sys.stdin.buffer.read(), stdout=-1)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"seconds": used.ru_utime + used.ru_stime, "kilobytes": used.ru_maxrss, "answer": json.loads(done.stdout)}))
"""


def measured(root: Path, kind: str) -> tuple[Answer, float, int]:
    """The answer about a hostile tree, and the processor time in seconds and the memory in kilobytes that it took."""
    files, command = TREES[kind]
    tree = str(grown(root, files))
    asked = json.dumps({"tree": tree, "directory": tree, "command": command})
    done = subprocess.run([sys.executable, "-c", MEASURED], input=asked, text=True, stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)
    return msgspec.convert(found["answer"], Answer), found["seconds"], found["kilobytes"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", TREES)
def test_a_hostile_tree_takes_two_seconds_and_200_mb_at_most(kind: str, tmp_path: Path) -> None:
    answer, seconds, kilobytes = measured(tmp_path, kind)
    assert seconds <= 2.0
    assert kilobytes <= 200_000
    assert answer.workload.gpus == 1
    if kind not in CUT:
        assert answer.workload == KNOWN, answer.failed


@pytest.mark.parametrize("path", ["path='a.B'", "", "'a.B'", "**given", "1", "None"])
@pytest.mark.parametrize(
    "function", ["get_class", "get_method", "get_object", "to_absolute_path", "instantiate", "call"]
)
def test_functions_of_hydra_take_their_arguments_by_name(function: str, path: str, tmp_path: Path) -> None:
    source = f"from hydra.utils import {function}\ngiven = {{'path': 'a.B'}}\nx = {function}({path})\n{TRAINING}"
    assert workload(tmp_path / "job", {"x.py": source}, "python x.py") == KNOWN


def test_a_class_that_is_named_by_keyword_is_found(tmp_path: Path) -> None:
    source = """
from hydra.utils import get_class
import torch
model = get_class(path="nets.SmallNet")(4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
for epoch in range(3):
    model(1).backward()
"""
    nets = "import torch\nclass SmallNet(torch.nn.Module):\n    def __init__(self, width):\n        pass\n"
    assert workload(tmp_path / "job", {"x.py": source, "nets.py": nets}, "python x.py").model_name == "SmallNet"


REFUSED = """
min() map() zip(1) setattr() getattr(1) range() int(x='a') dict([1])[2] print(*{},**[]) os.path.join() os.path.expanduser()
functools.reduce() argparse.ArgumentParser().add_argument() argparse.ArgumentParser().get_default() enumerate() isinstance()
sum() sorted() next() open() Path().joinpath() x.y.z()[0](1)[2] type()()
"""


@pytest.mark.parametrize("call", REFUSED.split())
def test_a_call_that_python_would_refuse_leaves_the_rest(call: str, tmp_path: Path) -> None:
    source = (
        f"import argparse, functools, os\nfrom pathlib import Path\nx = {call}\nclass A:\n    y = {call}\n{TRAINING}"
    )
    assert workload(tmp_path / "job", {"x.py": source}, "python x.py") == KNOWN


@pytest.mark.parametrize(
    "field", ["learning_rate", "batch_size", "length", "valid_data", "train_data", "model_name", "task_type"]
)
def test_a_field_that_fails_is_null_and_the_others_are_answered(
    field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise IndexError("tuple index out of range")

    monkeypatch.setattr(f"processors.advise.metadata.reading.{field}", fail)
    guard = Guard()
    tree = DirectoryTree(grown(tmp_path, {"x.py": TRAINING}))
    found = read(tree, Job(tmp_path, tmp_path, "python x.py"), guard)
    missing = {
        "learning_rate": {"lr"},
        "length": {"iters", "iter_type"},
        "batch_size": {"batch_size"},
        "task_type": {"task_type"},
    }
    nulls = {
        name for name in KNOWN.__struct_fields__ if getattr(found, name) is None and getattr(KNOWN, name) is not None
    }
    assert nulls <= missing.get(field, {"dataset_train", "task_type"})
    assert missing.get(field, set()) <= nulls
    assert "IndexError" in str(guard.failed)


def test_a_value_that_is_no_number_is_null(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("processors.advise.metadata.reading.learning_rate", lambda *_: ["0.1"])
    assert workload(tmp_path / "job", {"x.py": TRAINING}, "python x.py").lr is None


def test_an_answer_in_a_process_of_its_own_is_the_same(tmp_path: Path) -> None:
    job = Job(grown(tmp_path, {"x.py": TRAINING}), tmp_path, "python x.py")
    assert extract(job) == read(DirectoryTree(job.tree), job) == KNOWN
    assert ask(job).failed == {}


def test_a_directory_with_python_files_replaces_no_module_of_the_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "x.py": TRAINING,
        "ast.py": "open('ran', 'w')",
        "records.py": "open('ran', 'w')",
        "yaml.py": "open('ran', 'w')",
    }
    job = Job(grown(tmp_path, files), tmp_path, "python x.py")
    monkeypatch.chdir(tmp_path)
    assert extract(job) == KNOWN
    assert not (tmp_path / "ran").exists()


def test_a_tree_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(NotADirectoryError):
        extract(Job(tmp_path / "none", tmp_path, "python x.py"))


def test_links_that_lead_in_a_circle(tmp_path: Path) -> None:
    grown(tmp_path, {"x.py": f"import a, b\n{TRAINING}"})
    (tmp_path / "a").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "b").symlink_to("b")
    (tmp_path / "c.yaml").symlink_to("/dev/zero")
    assert extract(Job(tmp_path, tmp_path, "python x.py --config c.yaml")).gpus == 1


def test_the_clock_ends_a_part() -> None:
    def endless() -> None:
        while True:
            step()

    guard = Guard(timed=True)
    assert guard.run("a", endless, "none", steps=1 << 60, until=0.05) == "none"
    assert guard.failed == {"a": "too slow"}


def test_the_steps_of_a_part_are_its_own() -> None:
    guard = Guard()
    assert guard.run("a", lambda: [step() for _ in range(9)], None, steps=3) is None
    assert guard.run("b", lambda: len([step() for _ in range(3)]), None, steps=3) == 3
    assert guard.failed == {"a": "too many steps"}
    step(1_000_000)  # outside of a part nothing is limited


def test_no_handler_of_exceptions_swallows_a_limit() -> None:
    assert not issubclass(Stopped, Exception)
