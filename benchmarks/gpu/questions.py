"""What a model server is worth: questions a second, latency, and whether its answers make verdicts better or worse.

`python -m benchmarks.gpu.questions --server http://127.0.0.1:8000/v1` asks about every verdict on the corpus of provoked failures, with the
product's own prompts and schema. A model of dummy weights is good for the first two figures and nothing else.
"""

import argparse
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.corpus.failures.generate import LOGS, labels, load
from processors.model_questions import prepare
from processors.prompts import PreparedQuestion, Prompt
from processors.settings import ProcessorSettings
from records import LogChunk, ModelAnswer, ModelQuestion
from schedmate.analysis import analyze
from schedmate.assembly import job_processor
from schedmate.tail import find_tail
from streams.model_worker.http_server import HttpModelServer
from streams.model_worker.language_model import ModelError
from streams.producers.stored import read_chunks

TIMEOUT_S = 120.0


@dataclass
class Asked:
    """A log with its label, the verdict without a model, and the question about it."""

    path: Path
    label: dict[str, Any]
    verdict: dict[str, Any] | None
    question: PreparedQuestion | None


def main() -> None:
    """Ask, and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="address of an OpenAI-compatible server")
    parser.add_argument("--concurrency", default="1,4,16,64", help="questions under way at a time, in turn")
    parser.add_argument("--logs", type=int, default=400, help="logs at most")
    parser.add_argument("--questions", type=int, default=128, help="questions in each round of the first table")
    given = parser.parse_args()
    server = HttpModelServer(given.server)
    console = Console()
    cases = [(LOGS / family / label["file"], label) for family in load() for label in labels(family)][: given.logs]
    asked = [_asked(path, label) for path, label in track(cases, "verdicts without a model", console=console)]
    prompts = [each.question.prompt for each in asked if each.question]
    speed = Table(
        "at a time", "questions/s", "p50 s", "p99 s", "refused or useless", title=f"{server.model(30.0)}: speed"
    )
    for width in map(int, given.concurrency.split(",")):
        rows = [prompts[place % len(prompts)] for place in range(min(given.questions, 16 * width))]
        speed.add_row(str(width), *_speed(server, rows, width))
    console.print(speed)
    console.print(_worth(server, asked))


def _analyzed(path: Path, ask: Any) -> dict[str, Any] | None:
    processor = job_processor(ProcessorSettings(ask_models=True))
    found = analyze(path, read_chunks(path), processor, find_tail(path, processor), ask).contract()["failure"]
    return dict(found) if found else None


def _asked(path: Path, label: dict[str, Any]) -> Asked:
    kept: list[PreparedQuestion | None] = []

    def ask(question: ModelQuestion, chunks: Mapping[int, LogChunk]) -> ModelAnswer | None:
        kept.append(prepare(question, chunks))

    verdict = _analyzed(path, ask)
    return Asked(path, label, verdict, kept[-1] if kept else None)


def _speed(server: HttpModelServer, prompts: list[Prompt], width: int) -> list[str]:
    waits: list[float] = []
    failed = 0

    def one(prompt: Prompt) -> float | None:
        began = time.monotonic()
        try:
            server.complete(prompt, TIMEOUT_S)
        except ModelError:
            return None
        return time.monotonic() - began

    began = time.monotonic()
    with ThreadPoolExecutor(width) as pool:
        for wait in pool.map(one, prompts):
            if wait is None:
                failed += 1
            else:
                waits.append(wait)
    took = time.monotonic() - began
    waits.sort()
    if not waits:
        return ["-", "-", "-", str(failed)]
    return [
        f"{len(waits) / took:.1f}",
        f"{waits[len(waits) // 2]:.2f}",
        f"{waits[int(0.99 * (len(waits) - 1))]:.2f}",
        str(failed),
    ]


def _worth(server: HttpModelServer, asked: list[Asked]) -> Table:
    """Return how the model's word and the revised verdicts compare with those without it, by how certain these are."""
    table = Table(
        "verdict without a model",
        "logs",
        "type right",
        "model's type right",
        "revised: better",
        "equal",
        "worse",
        title="worth",
    )
    counts: dict[str, Counter[str]] = {}
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda each: _answer(server, each), asked))
    for each, answer in zip(asked, answers, strict=True):
        if answer is None:
            continue

        def ask(
            question: ModelQuestion, chunks: Mapping[int, LogChunk], answer: Mapping[str, Any] = answer
        ) -> ModelAnswer | None:
            prepared = prepare(question, chunks)
            return prepared.answer(answer, "model", time.time()) if prepared else None

        confidence = each.verdict["confidence"] if each.verdict else 0.0
        row = "certain (0.8 and more)" if confidence >= 0.8 else "uncertain" if confidence else "unknown or none"
        count = counts.setdefault(row, Counter())
        before, after = _points(each.label, each.verdict), _points(each.label, _analyzed(each.path, ask))
        count["logs"] += 1
        count["right"] += _type_right(each.label, each.verdict["error_type"] if each.verdict else "none")
        count["model"] += _type_right(each.label, answer["error_type"])
        count["better" if after > before else "worse" if after < before else "equal"] += 1
    for row, count in sorted(counts.items()):
        table.add_row(row, *(str(count[name]) for name in ("logs", "right", "model", "better", "equal", "worse")))
    return table


def _answer(server: HttpModelServer, asked: Asked) -> Mapping[str, Any] | None:
    if asked.question is None:
        return None
    try:
        content = server.complete(asked.question.prompt, TIMEOUT_S)
    except ModelError:
        return None
    return content if isinstance(content, dict) else None


def _type_right(label: dict[str, Any], said: str) -> bool:
    return said in {label["error_type"], *label.get("acceptable_error_types", [])}


def _points(label: dict[str, Any], verdict: dict[str, Any] | None) -> int:
    """Return how many of type, component, restartable and root line are right."""
    if verdict is None:
        return 4 * (label["error_type"] == "none")
    line = verdict["root_line"] or 0
    places = [label["acceptable_lines"], *label.get("alt_ranges", [])] if label["error_type"] != "none" else []
    return (
        _type_right(label, verdict["error_type"])
        + (verdict["faulty_component"] in {label["faulty_component"], *label.get("acceptable_components", [])})
        + (label["restartable"] is None or verdict["restartable"] == label["restartable"])
        + any(low <= line <= high for low, high in places)
    )


if __name__ == "__main__":
    main()
