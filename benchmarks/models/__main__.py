"""Whether a language model helps: `python -m benchmarks.models --server http://127.0.0.1:8000/v1`.

Asks the model what workers and the metadata agent would ask it, through their own prompts, schemas and checks, about things whose truth
is known, and prints for each kind of question how often what follows is better, equal or worse than without a model.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from streams.model_worker.language_model import LanguageModel

from . import templates, verdicts, workloads
from .asking import pool
from .judged import HEADINGS, Tally

Measure = Callable[[LanguageModel, int, int], Iterator[Tally]]
KINDS: dict[str, Measure] = {
    "templates": templates.measure,
    "verdicts": lambda *given: verdicts.measure(verdicts.own_logs(), *given),
    "uncatalogued": lambda *given: verdicts.measure(verdicts.own_logs(), *given, catalogue=False),
    "workloads": workloads.measure,
}


def main() -> None:
    """Ask; print each row as it is done, then a table of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="address of an OpenAI-compatible server")
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"some of {', '.join(KINDS)}, separated by commas")
    parser.add_argument(
        "--most", type=int, default=40, help="verdicts of each sureness, logs, jobs: asked about at most"
    )
    parser.add_argument(
        "--logs", type=Path, action="append", help="folder of labelled logs, beside `kinds`; again for more"
    )
    parser.add_argument("--concurrency", type=int, default=2, help="questions under way at a time")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for an answer")
    parser.add_argument("--answers", type=Path, help="file in which answers are kept: what it holds is not asked again")
    given = parser.parse_args()
    kinds = {name: KINDS[name] for name in given.kinds.split(",") if name}
    if given.logs:
        logs = [log for folder in given.logs for log in verdicts.logs_of(folder)]
        kinds["logs"] = lambda *rest: verdicts.measure(logs, *rest)
    model, rows = pool(given.server, given.timeout, given.concurrency, given.answers), list[Tally]()
    console = Console(width=None if sys.stdout.isatty() else 170)
    for measure in kinds.values():
        for row in measure(model, given.most, given.concurrency):
            rows.append(row)
            print("\t".join(row.cells()), file=sys.stderr, flush=True)
    console.print(_table(rows, f"{model.model}: what follows is better, equal or worse than without it"))


def _table(rows: list[Tally], title: str) -> Table:
    table = Table(*HEADINGS, title=title, title_justify="left", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row.cells())
    return table


if __name__ == "__main__":
    main()
