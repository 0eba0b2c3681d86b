"""What a model finds in the source of submitted jobs, looked for through a process of the job's user."""

import os
import pwd
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from processors.advise.agent.tools import REFUSED
from processors.prompts import Prompt
from schedmate_records import Workload
from scheduler_bridge.schedulers.slurm.client import SlurmJob
from scheduler_bridge.schedulers.slurm.events.model_reader import ModelReader
from scheduler_bridge.schedulers.slurm.events.remote_tools import RemoteTools, SourceGone
from tests.scheduler_bridge.schedulers.slurm.slurm_jobs import job

ME = pwd.getpwuid(os.geteuid()).pw_name
READ = {"action": "file_read", "path": "train.py", "line": 1, "claims": []}
CLAIM = {"field": "lr", "value": "0.0125", "path": "train.py", "line": 1}
DONE = {"action": "answer", "path": "", "line": 1, "claims": [CLAIM]}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "train.py").write_text("go(0.0125)  # the learning rate\n")
    (tmp_path / "outside.py").write_text("lr = 7\n")
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    return root


def submitted(name: str, tree: Path, user: str = ME) -> SlurmJob:
    return job(name, "PENDING", user=user, directory=str(tree), command=f"{tree}/train.sh")


class Model:
    """Reads the program, then says what it holds."""

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []

    def __call__(self, prompt: Prompt) -> Mapping[str, Any] | None:
        self.prompts.append(prompt)
        return READ if len(self.prompts) % 2 else DONE


def test_a_process_of_the_user_shows_the_tree_and_nothing_beside_it(tree: Path) -> None:
    with RemoteTools(ME, str(tree)) as tools:
        assert "train.py" in tools.file_tree(".")
        assert tools.line("train.py", 1) is None, "the model was not shown it yet"
        assert "go(0.0125)" in tools.file_read("train.py", 1)
        assert tools.line("train.py", 1) == "go(0.0125)  # the learning rate"
        assert tools.file_read("link.py", 1) == tools.file_read("../outside.py", 1) == REFUSED


def test_a_process_that_has_ended_is_said_so(tree: Path) -> None:
    with RemoteTools(ME, str(tree)) as tools:
        tools.end()
        with pytest.raises(SourceGone):
            tools.file_tree(".")
    with RemoteTools(ME, str(tree / "gone")) as tools, pytest.raises(SourceGone):
        tools.file_tree(".")


def test_what_a_line_bears_out_is_fetched_once_and_nothing_else_changes(tree: Path) -> None:
    model = Model()
    reader = ModelReader(model)
    reader.submit("1", submitted("1", tree), Workload(model_name="vit"))
    reader.drain()
    assert reader.pop_results() == {"1": Workload(model_name="vit", lr=0.0125)}
    assert reader.pop_results() == {}
    assert {prompt.job for prompt in model.prompts} == {"1"}, "the job's own budget pays"


def test_one_that_cannot_be_read_leaves_the_others_alone(tree: Path) -> None:
    def fails(prompt: Prompt) -> Mapping[str, Any] | None:
        if prompt.job == "bad":
            raise RuntimeError("made to fail")
        return READ if "0.0125" not in prompt.data else DONE

    reader = ModelReader(fails)
    for name, where, user in (
        ("gone", tree / "gone", ME),
        ("nobody", tree, "nobody-of-this-name"),
        ("bad", tree, ME),
        ("good", tree, ME),
    ):
        reader.submit(name, submitted(name, where, user), Workload())
    reader.drain()
    assert reader.pop_results() == {"good": Workload(lr=0.0125)}


def test_one_that_takes_too_long_is_ended(tree: Path) -> None:
    reader = ModelReader(lambda _: READ, one_s=0.0)
    reader.submit("1", submitted("1", tree), Workload())
    reader.drain()
    assert reader.pop_results() == {}


def test_the_model_is_asked_first_also_if_the_reader_knows_all_fields(tree: Path) -> None:
    model = Model()
    whole = Workload(
        model_name="vit",
        task_type="x",
        dataset_train="a",
        dataset_valid="b",
        iters=1,
        iter_type="epoch",
        batch_size=1,
        lr=1,
    )
    reader = ModelReader(model)
    reader.submit("1", submitted("1", tree), whole)
    reader.drain()
    assert model.prompts
    assert reader.pop_results()["1"].lr == 0.0125, "a claim that its line proves precedes the reader"


def test_no_process_stays(tree: Path) -> None:
    with RemoteTools(ME, str(tree)) as tools:
        tools.file_tree(".")
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert f"scheduler_bridge.sources.serve_tools {tree}" not in running
