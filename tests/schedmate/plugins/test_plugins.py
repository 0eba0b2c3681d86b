"""Entry points of other distributions: what is refused, and with which message."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from schedmate.assembly import open_embedder
from schedmate.plugins.plugins import EMBEDDERS, SCHEDULERS, PluginError, installed
from schedmate.plugins.schedulers import find_scheduler, watchable_schedulers

Install = Callable[..., None]

MODULE = """
from scheduler_bridge.schedulers.scheduler import Scheduler

class Complete(Scheduler):
    name = "complete"
    title = "Complete"
    def actuator(self, settings): ...

class Incomplete(Scheduler):
    name = "incomplete"

class Named(Complete):
    name = "another"

class Kafka(Complete):
    name = "kafka"

number = 7

class Ones:
    name = "ones"
    def __init__(self, model, url):
        self.model, self.url = model, url
    def embed(self, texts): ...
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    (tmp_path / "some_schedulers.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "some_schedulers", raising=False)

    def add(distribution: str, group: str = SCHEDULERS, /, **entries: str) -> None:
        metadata = tmp_path / f"{distribution}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        lines = [f"{name} = {value}" for name, value in entries.items()]
        (metadata / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]) + "\n")

    return add


def test_schedulers_that_ship_are_installed_in_the_same_way() -> None:
    assert {"kubernetes", "local", "ray", "slurm"} <= set(installed(SCHEDULERS))
    assert {"kubernetes", "ray", "slurm"} <= set(watchable_schedulers())
    assert "local" not in watchable_schedulers()
    for name in installed(SCHEDULERS):
        assert find_scheduler(name).name == name


def test_scheduler_of_another_distribution_is_found(install: Install) -> None:
    install("other", complete="some_schedulers:Complete")
    assert find_scheduler("complete").title == "Complete"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("incomplete", "some_schedulers:Incomplete", "actuator"),
        ("renamed", "some_schedulers:Named", "to have that name, got 'another'"),
        ("kafka", "some_schedulers:Kafka", r"a section \[kafka\]"),
        ("number", "some_schedulers:number", "expected a subclass of Scheduler"),
        ("absent", "some_schedulers:Absent", "Absent"),
        ("unimportable", "no_such_module:X", "no_such_module"),
    ],
)
def test_unusable_scheduler_is_refused_with_its_name(name: str, value: str, expected: str, install: Install) -> None:
    install("other", **{name: value})
    with pytest.raises(PluginError, match=expected):
        find_scheduler(name)
    assert "slurm" in watchable_schedulers(), "the others remain"
    assert name not in watchable_schedulers()


def test_name_that_two_distributions_use_is_refused(install: Install) -> None:
    install("first", complete="some_schedulers:Complete")
    install("second", complete="some_schedulers:Complete")
    with pytest.raises(PluginError, match=r"first and second|second and first"):
        find_scheduler("complete")


def test_unknown_scheduler_is_refused_with_the_installed_ones() -> None:
    with pytest.raises(PluginError, match=r"got pbs; installed: .*kubernetes, local, ray, slurm"):
        find_scheduler("pbs")


def test_schedulers_are_listed_without_their_clients() -> None:
    program = (
        "import sys; from schedmate.plugins.schedulers import watchable_schedulers; watchable_schedulers()\n"
        "print([name for name in sys.modules if name.endswith(('.client', '.actuator', '.events')) and 'schedulers' in name])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


def test_embedder_of_another_distribution_is_found(install: Install) -> None:
    assert {"flag", "http", "onnx"} <= set(installed(EMBEDDERS))
    install("other", EMBEDDERS, ones="some_schedulers:Ones")
    assert vars(open_embedder("ones", "a model", "http://h")) == {"model": "a model", "url": "http://h"}
    with pytest.raises(
        PluginError, match="expected an installed embedder, got zeros; installed: flag, http, ones, onnx"
    ):
        open_embedder("zeros", "")
