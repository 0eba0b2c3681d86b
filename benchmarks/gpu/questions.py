"""What a model server answers in a second: `python -m benchmarks.gpu.questions --server http://127.0.0.1:8000/v1`.

Asks about every verdict on the corpus of provoked failures, with the product's own prompts and schema; a model of dummy weights will do.
What the answers are worth is another measurement: `python -m benchmarks.models`.
"""

import argparse
import time
from concurrent.futures import ThreadPoolExecutor

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.models.verdicts import Reading, own_logs, processor_of
from processors.prompts import Prompt
from streams.model_worker.http_server import HttpModelServer
from streams.model_worker.language_model import ModelError

TIMEOUT_S = 120.0


def main() -> None:
    """Ask, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="address of an OpenAI-compatible server")
    parser.add_argument("--concurrency", default="1,4,16,64", help="questions under way at a time, in turn")
    parser.add_argument("--logs", type=int, default=400, help="logs at most")
    parser.add_argument("--questions", type=int, default=128, help="questions in each round")
    given = parser.parse_args()
    server, console, processor = HttpModelServer(given.server), Console(), processor_of()
    logs = track(own_logs()[: given.logs], "verdicts without a model", console=console)
    prompts = [prompt for log in logs if (prompt := Reading(processor, log).prompt())]
    speed = Table(
        "at a time", "questions/s", "p50 s", "p99 s", "refused or useless", title=f"{server.model(30.0)}: speed"
    )
    for width in map(int, given.concurrency.split(",")):
        rows = [prompts[place % len(prompts)] for place in range(min(given.questions, 16 * width))]
        speed.add_row(str(width), *_speed(server, rows, width))
    console.print(speed)


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
