"""Whether a language model helps, and what it costs: `python -m benchmarks.models --url http://127.0.0.1:8000/v1`.

Asks the model what workers and the metadata agent would ask it, through their own prompts, schemas and checks, about things whose truth
is known. Prints for each kind of question how often the result is better, equal or worse than without a model, how many fields are right
with and without it, what a question costs, and how many questions a cluster asks in a day.

`--recorded FILE` needs no server: it replays recorded answers about the failure logs of `--logs`, through a server of the same protocol.
"""

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from streams.model_worker.http_server import HttpModelServer
from streams.model_worker.language_model import LanguageModel

from . import formats, verdicts, workloads
from .asking import pool
from .cluster import per_day
from .judged import HEADINGS, Tally
from .replay_server import replaying

Measure = Callable[[LanguageModel, int, int], Iterator[Tally]]
KINDS: dict[str, Measure] = {
    "formats": formats.measure,
    "verdicts": lambda *given: verdicts.measure(verdicts.own_logs(), *given),
    "uncatalogued": lambda *given: verdicts.measure(verdicts.own_logs(), *given, catalogue=False),
    "workloads": workloads.measure,
}


def main() -> None:
    """Ask; print each row as it is done, then a table of all."""
    given = _arguments()
    kinds = {name: KINDS[name] for name in given.kinds.split(",") if name}
    if given.logs:
        logs = [log for folder in given.logs for log in verdicts.logs_of(folder)]
        kinds["logs"] = lambda *rest: verdicts.measure(logs, *rest)
    rows = list[Tally]()
    console = Console(width=None if sys.stdout.isatty() else 200)
    serving = replaying(given.recorded, given.logs) if given.recorded else contextlib.nullcontext(given.url)
    with serving as url:
        server = HttpModelServer(url, given.model)
        model = pool(server, given.timeout, given.concurrency, given.answers)
        for measure in kinds.values():
            before = server.tokens
            for row in measure(model, given.most, given.concurrency):
                row.tokens = server.tokens[0] - before[0], server.tokens[1] - before[1]
                before = server.tokens
                rows.append(row)
                print("\t".join(row.cells()), file=sys.stderr, flush=True)
    title = f"{model.model}: what follows is better, equal or worse than without it"
    console.print(_table(HEADINGS, [row.cells() for row in rows], title))
    headings, cells = per_day(rows, given.gpus)
    console.print(_table(headings, cells, f"questions a day of a cluster of {given.gpus} GPUs"))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--url", "--server", dest="url", help="address of an OpenAI-compatible server")
    asked.add_argument(
        "--recorded", type=Path, help="file of recorded answers about the logs of --logs, instead of a server"
    )
    parser.add_argument(
        "--model", default="", help="name of the model; the first that the server serves where not given"
    )
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"some of {', '.join(KINDS)}, separated by commas")
    parser.add_argument(
        "--most", type=int, default=40, help="questions about verdicts of each confidence, logs, jobs: maximum number"
    )
    parser.add_argument(
        "--logs",
        type=Path,
        action="append",
        default=[],
        help="folder of labelled logs, in addition to `kinds`; repeat it for more",
    )
    parser.add_argument("--gpus", type=int, default=1000, help="GPUs of the cluster whose questions are estimated")
    parser.add_argument("--concurrency", type=int, default=2, help="questions under way at a time")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for an answer")
    parser.add_argument("--answers", type=Path, help="file in which answers are kept: what it holds is not asked again")
    given = parser.parse_args()
    if given.recorded and not given.logs:
        parser.error("expected --logs with --recorded: the folder of the logs that the answers are about")
    return given


def _table(headings: tuple[str, ...], rows: list[tuple[str, ...]], title: str) -> Table:
    table = Table(*headings, title=title, title_justify="left", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    return table


if __name__ == "__main__":
    main()
