"""What a run found, as a table for people and as JSON for machines."""

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.chaos.run import Outcome

SHOWN = 40
"""Problems that are printed; the JSON file holds all."""


def show(outcome: Outcome, console: Console) -> None:
    """Print what was done, what came of it and what does not hold."""
    table = Table("what", "figure", box=None, pad_edge=False)
    by_kind: dict[str, int] = {}
    for name, count in outcome.faults.items():
        by_kind[name.split()[0]] = by_kind.get(name.split()[0], 0) + count
    table.add_row(
        "faults", f"{sum(outcome.faults.values())}: " + ", ".join(f"{n} {kind}" for kind, n in sorted(by_kind.items()))
    )
    table.add_row("hostile jobs", str(outcome.hostile))
    table.add_row("commands that ended by themselves", str(len(outcome.ended)))
    for name, figure in outcome.verdict.figures.items():
        if not figure and name.startswith("rows of "):
            continue  # a table that the run does not fill
        table.add_row(name, f"{figure:,g}")
    console.print(table)
    for problem in outcome.problems[:SHOWN]:
        console.print(f"[red]✗[/] {problem}", highlight=False, soft_wrap=True)
    if len(outcome.problems) > SHOWN:
        console.print(f"… and {len(outcome.problems) - SHOWN} more")
    console.print("all holds" if not outcome.problems else f"{len(outcome.problems)} things do not hold")


def save(outcome: Outcome, file: Path) -> None:
    """Write all figures and problems to `file`."""
    file.write_text(json.dumps(outcome.figures(), indent=1) + "\n")
