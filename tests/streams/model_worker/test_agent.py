"""The agent over HTTP: servers that behave, that behave badly, and a real vLLM whose model has random weights."""

import json
import os
from pathlib import Path

import pytest

from processors.advise.agent import Tools, fill
from processors.advise.agent.loop import STEPS
from schedmate.models.language_models import ask_or_none
from schedmate_records import Workload
from scheduler_bridge.sources.tree import DirectoryTree
from streams.model_worker.http_server import HttpModelServer
from streams.model_worker.pool import ModelLimits, ModelPool
from tests.metric_values import value
from tests.schedmate.forked import run_forked
from tests.servers.vllm import VllmServer

from .misbehaving_server import answers, drips, hangs_up, misbehaving, says, status

LINE = "go(0.0125)  # the learning rate\n"
READ = {"action": "file_read", "path": "train.py", "line": 1, "claims": []}
CLAIM = {"field": "lr", "value": "0.0125", "path": "train.py", "line": 1}
DONE = {"action": "answer", "path": "", "line": 1, "claims": [CLAIM]}


@pytest.fixture
def tree(tmp_path: Path) -> DirectoryTree:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "train.py").write_text(LINE)
    return DirectoryTree(root)


def pool(url: str, **limits: float) -> ModelPool:
    wanted = {"timeout_s": 5, "total_s": 10, "attempts": 1, "pause_s": 0.01} | limits
    return ModelPool([HttpModelServer(url)], ModelLimits(**wanted))  # type: ignore[arg-type]


def test_a_server_that_answers_fills_what_is_open(tree: DirectoryTree) -> None:
    with misbehaving(answers(READ), answers(DONE)) as server:
        found = fill(Workload(model_name="vit"), Tools(tree), "python train.py", ask_or_none(pool(server.url)))
    assert found.workload == Workload(model_name="vit", lr=0.0125)
    assert [each["response_format"]["json_schema"]["strict"] for each in server.requests] == [True, True]


@pytest.mark.parametrize(
    "behaviour",
    [
        status(500),
        status(400),
        hangs_up,
        drips,
        says("no JSON"),
        answers("no JSON"),
        answers({"action": "rm -rf /", "path": "", "line": 1, "claims": []}),
        answers(DONE | {"more": 1}),
        answers(DONE | {"claims": [CLAIM | {"value": "x" * 101}]}),
        answers(DONE | {"claims": [CLAIM] * 100}),
    ],
)
def test_a_server_that_misbehaves_changes_nothing(tree: DirectoryTree, behaviour: object) -> None:
    with misbehaving(behaviour) as server:  # type: ignore[arg-type]
        found = fill(Workload(), Tools(tree), "", ask_or_none(pool(server.url, timeout_s=1, total_s=2)))
    assert found.workload == Workload()


def test_an_endless_loop_of_tools_is_cut(tree: DirectoryTree) -> None:
    with misbehaving(answers(READ)) as server:
        found = fill(Workload(), Tools(tree), "", ask_or_none(pool(server.url)))
    assert found.workload == Workload()
    assert len(server.requests) <= STEPS


def test_the_budget_and_the_breaker_hold(tree: DirectoryTree) -> None:
    with misbehaving(answers(READ)) as server:
        asked = pool(server.url, per_job_hour=2)
        assert fill(Workload(), Tools(tree), "", ask_or_none(asked), job="7").steps == 3
        assert (len(server.requests), value(asked.metrics.over_budget)) == (2, 1)
    with misbehaving(status(500)) as server:
        asked = pool(server.url, failures=2, rest_s=60)
        for _ in range(4):
            fill(Workload(), Tools(tree), "", ask_or_none(asked))
        assert len(server.requests) == 2
        assert value(asked.metrics.resting) == 2


def test_the_command_asks_only_where_it_is_told_to(tree: DirectoryTree) -> None:
    said = {}
    with misbehaving(answers(READ), answers(DONE)) as server:
        for name, flags in (("plain", ()), ("asked", ("--ask-model",))):
            done = run_forked(
                f"--set=language_model.servers={server.url}", "advise", "--metadata", "--json", *flags,
                "--tree", tree.root, "--", "python", "train.py", env=os.environ | {"SCHEDMATE_CONFIG": os.devnull},
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            said[name] = (json.loads(done.stdout), len(server.requests))
    assert said["plain"][0]["lr"] is None
    assert said["plain"][1] == 0
    assert said["asked"][0]["lr"] == 0.0125
    assert said["asked"][0]["cited"] == [CLAIM | {"value": 0.0125}]


@pytest.mark.vllm
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_random_weights_fill_nothing_that_no_line_bears_out(tree: DirectoryTree, vllm_server: VllmServer) -> None:
    asked = pool(vllm_server.url, timeout_s=240, total_s=280)
    found = fill(Workload(), Tools(tree), "python train.py", ask_or_none(asked))
    assert value(asked.metrics.outside_schema) == 0
    assert found.workload in (Workload(), Workload(lr=0.0125))
