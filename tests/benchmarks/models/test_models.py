"""Whether the benchmark of language models counts what it says: with one that knows the truth, and with ones that do not."""

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from benchmarks.models import templates, verdicts, workloads
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


@pytest.mark.parametrize("measured", ["templates", "verdicts", "workloads"])
def test_a_silent_model_changes_nothing(measured: str) -> None:
    rows = {
        "templates": lambda: list(templates.measure(SILENT, 40, 2)),
        "verdicts": lambda: list(verdicts.measure(LOGS, SILENT, 40, 2)),
        "workloads": lambda: list(workloads.measure(SILENT, 3, 2)),
    }[measured]()
    assert rows
    for row in rows:
        assert row.subjects > 0
        assert (row.answered, row.effective, row.changes["better"], row.changes["worse"]) == (0, 0, 0, 0)


WORDS = {"ms": ("step_time", "ms"), "seconds": ("step_time", "s"), "rate": ("rate", "it/s")}
WORDS |= {"step": ("step", "none"), "loss": ("loss", "none"), "total": ("total", "none")}


def reading(prompt: Prompt) -> Mapping[str, Any]:
    """Answer rightly about a made-up training: its pattern is the form's."""
    pattern = prompt.data.split("\n", maxsplit=1)[0].removeprefix("Pattern: ")
    places = range(1, 1 + len(prompt.schema["properties"]))
    form = next(each for each in templates.FORMS if shape(each, list(places)) == pattern)
    names = [part.partition("}")[0] for part in form.split("{")[1:]]
    said = [WORDS.get(name, ("other", "none")) for name in names]
    return {
        f"number_{at}": dict(zip(("meaning", "unit"), each, strict=True)) for at, each in zip(places, said, strict=True)
    }


def shape(form: str, places: list[int]) -> str:
    texts = [part.partition("}") for part in form.split("{")]
    return texts[0][0] + "".join(f"{{{at}}}{rest}" for at, (_, _, rest) in zip(places, texts[1:], strict=False))


def test_a_model_that_reads_lines_rightly_is_counted_better_wherever_it_is_asked() -> None:
    (row,) = templates.measure(Saying(reading), 40, 2)
    assert row.subjects >= 15
    assert row.alone_right == row.effective == row.changes["better"] == row.subjects
    assert len(row.seconds) == row.answered == row.asked


def test_a_model_that_says_anything_makes_no_line_worse() -> None:
    chance = random.Random(3)

    def anything(prompt: Prompt) -> Mapping[str, Any]:
        return {
            name: {key: chance.choice(each["enum"]) for key, each in field["properties"].items()}
            for name, field in prompt.schema["properties"].items()
        }

    (row,) = templates.measure(Saying(anything), 40, 2)
    assert row.changes["worse"] == 0
    assert row.answered >= row.subjects >= 15


def test_what_a_model_says_of_verdicts_is_counted_by_how_sure_they_are() -> None:
    def blames_the_script(prompt: Prompt) -> Mapping[str, Any]:
        said = {"lines": [], "root_line": 0, "error_type": "user_script", "component": "none"}
        return said | {"restartable": "no", "confidence": "high"}

    assert {log.label["error_type"] for log in LOGS} == {"user_script"}
    rows = list(verdicts.measure(LOGS, Saying(blames_the_script), 40, 2))
    (confidence,) = [row for row in rows if row.kind == "uncertain verdict: its confidence"]
    assert confidence.changes["better"] > 0
    assert confidence.changes["worse"] == 0
    for row in rows:
        assert row.answered == row.asked == row.subjects
        assert row.alone_right in (None, row.subjects)


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
