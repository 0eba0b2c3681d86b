"""The questions about failures on labelled logs: with a model that knows the labels, with recorded answers, and with harmful models."""

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.models import verdicts
from benchmarks.models.asking import pool
from benchmarks.models.cluster import per_day
from benchmarks.models.judged import Tally
from benchmarks.models.replay_server import replaying
from processors.prompts import Prompt
from streams.model_worker.http_server import HttpModelServer
from streams.model_worker.language_model import Answer

LOGS = [log for log in verdicts.own_logs() if log.path.parent.name in {"python", "files"}][:30]


def recorded(log: verdicts.Log) -> dict[str, Any]:
    """Return the label of `log` as a recorded answer."""
    label = log.label
    low, high = label["acceptable_lines"]
    return {
        "file": log.path.name, "error_type": label["error_type"], "faulty_component": label["faulty_component"], "root_line": high,
        "evidence": [low, high], "restartable": label["restartable"], "confidence": "high", "summary": "It failed.",
    }  # fmt: skip


class Saying:
    """A model that answers by a function of the prompt."""

    def __init__(self, says: Callable[[Prompt], Mapping[str, Any]]) -> None:
        self._says = says

    def ask(self, prompt: Prompt) -> Answer:
        return Answer("m", prompt.version, self._says(prompt), 1.0)


def total(rows: list[Tally], what: str) -> int:
    return sum(row.changes[what] for row in rows)  # type: ignore[index]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("recorded") / "answers.jsonl"
    file.write_text("\n".join(json.dumps(recorded(log)) for log in LOGS))
    return file


@pytest.mark.parametrize("catalogue", [True, False])
def test_recorded_answers_replayed_by_a_server_make_verdicts_better_and_none_worse(
    answers: Path, catalogue: bool
) -> None:
    with replaying(answers, sorted({log.path.parent for log in LOGS})) as url:
        model = pool(HttpModelServer(url), 10.0, 2, None)
        rows = list(verdicts.measure(LOGS, model, 40, 2, catalogue=catalogue))
    assert sum(row.answered for row in rows) == sum(row.asked for row in rows) > 0
    assert all(row.right_with >= row.right_without for row in rows)
    assert total(rows, "worse") == 0
    if not catalogue:
        assert total(rows, "better") > 0
    assert model.model == "recorded"


def anything(schema: Any, chance: random.Random) -> Any:
    if schema["type"] == "object":
        return {name: anything(part, chance) for name, part in schema["properties"].items()}
    if schema["type"] == "array":
        return [anything(schema["items"], chance) for _ in range(chance.randint(0, schema["maxItems"]))]
    if schema["type"] == "integer":
        return chance.randint(schema["minimum"], schema["maximum"])
    return chance.choice(schema["enum"]) if "enum" in schema else "text"


def blames(error_type: str, component: str) -> Callable[[Prompt], Mapping[str, Any]]:
    """Return a model that names the rules' own line, always with the same cause."""

    def says(prompt: Prompt) -> Mapping[str, Any]:
        line = next(
            (
                int(each.split(":")[0].removeprefix("- line "))
                for each in prompt.data.split("\n")
                if each.startswith("- line ")
            ),
            0,
        )
        return {
            "failed": "yes", "error_type": error_type, "faulty_component": component, "root_line": line, "evidence": [line],
            "restartable": "yes", "confidence": "high", "summary": "It is certain.",
        }  # fmt: skip

    return says


def healthy(prompt: Prompt) -> Mapping[str, Any]:
    last = prompt.schema["properties"]["root_line"]["maximum"]
    return {
        "failed": "no", "error_type": "none", "faulty_component": "none", "root_line": 0, "evidence": [last], "restartable": "yes",
        "confidence": "high", "summary": "It went well.",
    }  # fmt: skip


HARMFUL = {
    "random": lambda prompt: anything(prompt.schema, random.Random(prompt.key)),
    "blames a GPU": blames("infrastructure", "gpu"),
    "blames the framework": blames("framework", "none"),
    "finds no failure": healthy,
}


@pytest.mark.parametrize("name", HARMFUL)
def test_harmful_model_is_not_trusted_and_makes_at_most_one_log_worse(name: str) -> None:
    unknown_end = [verdicts.Log(log.path, log.label, end_known=False) for log in LOGS]
    for logs in (LOGS, unknown_end):
        rows = list(verdicts.measure(logs, Saying(HARMFUL[name]), 40, 1))
        assert total(rows, "worse") <= 1, "until the first answer about a verdict that rules are confident of"


def test_questions_of_a_cluster_follow_from_the_share_of_failures_that_is_asked_about() -> None:
    row = Tally("verdicts, rules unsure", considered=100, asked=25, seconds=[2.0])
    headings, ((_, events, share, questions, busy),) = per_day([row], 2000)
    assert len(headings) == 5
    assert (events, share, questions, busy) == ("400", "0.25", "100", "0.2%")
