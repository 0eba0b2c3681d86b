"""Random and hostile answers about formats and failures: how many logs get worse than without a model."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.models import harm, labelled_logs, verdicts
from benchmarks.models.judged import compared
from processors.diagnose.failure_question import TrackRecord
from processors.prompts import Prompt

from .test_verdicts import Saying, anything, blames, healthy

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.exists(), reason="the labelled logs are not here")
MAX_WORSE = 0.01
"""Share of readings that may be worse than without a model."""


def at_rules_line(seed: int, prompt: Prompt) -> Mapping[str, Any]:
    """Return a random cause at the line that the rules name: it passes the checks of the cited lines most often."""
    chance = random.Random(f"{prompt.key} {seed}")
    lines = re.findall(r"^- line (\d+)", prompt.data, re.MULTILINE) or re.findall(
        r"^(\d+): ", prompt.data, re.MULTILINE
    )
    error_type = chance.choice(["infrastructure", "framework", "user_script", "other"])
    parts = ["gpu", "nvlink", "network", "node", "storage"] if error_type == "infrastructure" else ["none"]
    return {
        "failed": "yes", "error_type": error_type, "faulty_component": chance.choice(parts), "root_line": int(lines[0]),
        "evidence": [int(lines[0])], "restartable": chance.choice(["yes", "no"]), "confidence": "high", "summary": "It is certain.",
    }  # fmt: skip


def at_random(seed: int, prompt: Prompt) -> Mapping[str, Any]:
    """Return a random answer inside the schema."""
    found: dict[str, Any] = anything(prompt.schema, random.Random(f"{prompt.key} {seed}"))
    return found


HOSTILE: Mapping[str, Callable[[int], Callable[[Prompt], Mapping[str, Any]]]] = {
    "random": lambda seed: partial(at_random, seed),
    "random cause at the line of the rules": lambda seed: partial(at_rules_line, seed),
    "always node": lambda _: blames("infrastructure", "node"),
    "always storage": lambda _: blames("infrastructure", "storage"),
    "always user script": lambda _: blames("user_script", "none"),
    "never a failure": lambda _: healthy,
}


def worse_verdicts(readings: Sequence[verdicts.Reading], seeds: int) -> dict[str, list[int]]:
    """Return how many verdicts get worse by each hostile model, of which nothing is known before each log."""
    found: dict[str, list[int]] = {}
    for name, model in HOSTILE.items():
        for seed in range(seeds):
            worse = 0
            for place, each in enumerate(readings):
                each.ask(Saying(model(seed + seeds * place)), TrackRecord())
                before, after = (
                    verdicts.verdict_points(each.log.label, verdict) for verdict in (each.verdict, each.combined)
                )
                worse += compared(before, after) == "worse"
            found.setdefault(name, []).append(worse)
    return found


def worse_formats(logs: Sequence[labelled_logs.LabelledLog], seeds: int) -> tuple[list[str], int]:
    """Return what got worse, and the number of readings."""
    found = list(harm.measure(logs, harm.WRONG, seeds))
    return [f"{name}, {kind} {seed}: {'; '.join(worse)}" for name, kind, seed, worse in found if worse], len(found)


def test_wrong_formats_make_hardly_any_log_of_the_corpus_worse() -> None:
    worse, readings = worse_formats(list(labelled_logs.corpus_logs(50)), 2)
    assert len(worse) <= max(1, MAX_WORSE * readings), "\n".join(worse)


def test_hostile_models_make_hardly_any_verdict_of_the_corpus_worse() -> None:
    processor = verdicts.processor_of()
    logs = random.Random(0).sample(verdicts.own_logs(), 60)
    for found in (True, False):
        readings = [verdicts.Reading(processor, verdicts.Log(log.path, log.label, end_known=found)) for log in logs]
        for name, counts in worse_verdicts(readings, 4).items():
            assert sum(counts) <= max(1, MAX_WORSE * len(readings) * len(counts)), f"{name}: {counts}"


@needs_shared
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_wrong_formats_make_hardly_any_real_log_worse() -> None:
    worse, readings = worse_formats(list(labelled_logs.logs_of(SHARED / "logs")), 3)
    assert len(worse) <= MAX_WORSE * readings, "\n".join(worse)


@needs_shared
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_hostile_models_make_hardly_any_verdict_on_a_real_failure_worse() -> None:
    processor = verdicts.processor_of()
    folders = ("failures", "long_failures", "healthy_tricky")
    readings = [verdicts.Reading(processor, log) for name in folders for log in verdicts.logs_of(SHARED / name)]
    for name, counts in worse_verdicts(readings, 4).items():
        assert sum(counts) <= MAX_WORSE * len(readings) * len(counts), f"{name}: {counts}"
