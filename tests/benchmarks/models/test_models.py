"""Whether the benchmark of language models counts what it says: with one that knows the truth, and with ones that do not."""

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from benchmarks.models import formats, verdicts, workloads
from benchmarks.models.judged import compared, points
from processors.prompts import Prompt
from streams.model_worker.language_model import Answer

LOGS = [log for log in verdicts.own_logs() if log.path.parent.name == "python"][:24]


class Saying:
    """A model that answers by a function of the question."""

    def __init__(self, says: Callable[[Prompt], Mapping[str, Any] | None]) -> None:
        self._says = says

    def ask(self, prompt: Prompt) -> Answer | None:
        content = self._says(prompt)
        return None if content is None else Answer("m", prompt.version, content, 1.0)


SILENT = Saying(lambda _: None)


def test_what_fell_counts_more_than_what_rose() -> None:
    assert compared({"a": 0, "b": 0}, {"a": 1, "b": -1}) == "worse"
    assert compared({"a": 0, "b": 0}, {"a": 1, "b": 0}) == "better"
    assert compared({"a": 1}, {"a": 1}) == "equal"
    assert (points("x", True), points(None, False), points("x", False)) == (1, 0, -1)


@pytest.mark.parametrize("measured", ["formats", "verdicts", "workloads"])
def test_a_silent_model_changes_nothing(measured: str) -> None:
    rows = {
        "formats": lambda: list(formats.measure(SILENT, 40, 2)),
        "verdicts": lambda: list(verdicts.measure(LOGS, SILENT, 40, 2)),
        "workloads": lambda: list(workloads.measure(SILENT, 3, 2)),
    }[measured]()
    assert rows
    for row in rows:
        assert row.subjects > 0
        assert (row.answered, row.effective, row.changes["better"], row.changes["worse"]) == (0, 0, 0, 0)


WORDS = {"ms": ("step_time", "ms"), "seconds": ("step_time", "s"), "rate": ("rate", "steps/s")}
WORDS |= {"step": ("step", "none"), "loss": ("loss", "none"), "total": ("step_total", "none")}


def reading(prompt: Prompt) -> Mapping[str, Any]:
    """Answer rightly about a made-up training: its first template is the form's."""
    pattern = prompt.data.split("\n", maxsplit=1)[0].partition(" lines: ")[2]
    form = next(each for each in formats.FORMS if shape(each) == pattern)
    names = [part.partition("}")[0] for part in form.split("{")[1:]]
    columns = [
        {"column": at, "role": WORDS[name][0], "unit": WORDS[name][1], "steps": 1}
        for at, name in enumerate(names, start=1)
        if name in WORDS
    ]
    return {"training": "yes", "templates": [{"template": 1, "reports": "training"}], "columns": columns}


def shape(form: str) -> str:
    texts = [part.partition("}") for part in form.split("{")]
    return texts[0][0] + "".join(f"{{{at}}}{rest}" for at, (_, _, rest) in enumerate(texts[1:], start=1))


def test_model_that_reads_formats_rightly_makes_no_log_worse_and_most_better() -> None:
    (row,) = formats.measure(Saying(reading), 40, 2)
    assert row.subjects >= 25
    assert row.changes["worse"] == 0
    assert row.changes["better"] >= 15
    assert len(row.seconds) == row.answered == row.asked


def test_model_that_answers_anything_makes_no_log_worse() -> None:
    chance = random.Random(3)

    def inside(schema: Any) -> dict[str, Any]:
        return {
            name: chance.choice(part["enum"])
            if "enum" in part
            else chance.randint(part["minimum"], min(part["maximum"], 9))
            for name, part in schema["properties"].items()
        }

    def anything(prompt: Prompt) -> Mapping[str, Any]:
        wanted = prompt.schema["properties"]
        return {
            "training": chance.choice(["yes", "no"]),
            "templates": [inside(wanted["templates"]["items"]) for _ in range(3)],
            "columns": [inside(wanted["columns"]["items"]) for _ in range(6)],
        }

    (row,) = formats.measure(Saying(anything), 40, 2)
    assert row.changes["worse"] == 0
    assert row.asked > row.subjects / 2
    assert row.answered >= row.asked - 2


def test_a_claim_that_no_line_bears_out_fills_no_field() -> None:
    def claims(prompt: Prompt) -> Mapping[str, Any]:
        return {
            "action": "answer",
            "path": "",
            "line": 1,
            "claims": [{"field": "lr", "value": "7", "path": "x", "line": 1}],
        }

    (row,) = workloads.measure(Saying(claims), 3, 2)
    assert row.answered == row.subjects == 3
    assert (row.effective, row.changes["worse"]) == (0, 0)
