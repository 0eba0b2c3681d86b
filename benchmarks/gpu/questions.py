"""How fast a model server answers: questions a second, and latency. What its answers are worth: `benchmarks.gpu.worth`.

`python -m benchmarks.gpu.questions --server http://127.0.0.1:8000/v1` asks about verdicts on the corpus of provoked failures, with the
product's own prompts and schema. A model of dummy weights will do.
"""

import argparse
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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


def main() -> None:
    """Ask, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="address of an OpenAI-compatible server")
    parser.add_argument("--concurrency", default="1,4,16,64", help="questions under way at a time, in turn")
    parser.add_argument("--logs", type=int, default=400, help="logs at most")
    parser.add_argument("--questions", type=int, default=128, help="questions in each round")
    given = parser.parse_args()
    server = HttpModelServer(given.server)
    console = Console()
    logs = [LOGS / family / label["file"] for family in load() for label in labels(family)][: given.logs]
    prompts = [prompt for path in track(logs, "verdicts", console=console) if (prompt := _prompt(path))]
    speed = Table(
        "at a time", "questions/s", "p50 s", "p99 s", "refused or useless", title=f"{server.model(30.0)}: speed"
    )
    for width in map(int, given.concurrency.split(",")):
        rows = [prompts[place % len(prompts)] for place in range(min(given.questions, 16 * width))]
        speed.add_row(str(width), *_speed(server, rows, width))
    console.print(speed)


def _prompt(path: Path) -> Prompt | None:
    """Return the last question about the verdict on a log; None where there is none."""
    kept: list[PreparedQuestion | None] = []

    def ask(question: ModelQuestion, chunks: Mapping[int, LogChunk]) -> ModelAnswer | None:
        kept.append(prepare(question, chunks))
        return None

    processor = job_processor(ProcessorSettings(ask_models=True))
    analyze(path, read_chunks(path), processor, find_tail(path, processor), ask)
    return kept[-1].prompt if kept and kept[-1] else None


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


if __name__ == "__main__":
    main()
