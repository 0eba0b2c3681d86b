"""Runs chaos, prints what it found, and exits with 1 where something does not hold: `make chaos`."""

import argparse
import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from benchmarks.chaos.hostile import KINDS
from benchmarks.chaos.report import save, show
from benchmarks.chaos.run import Options, run


def main() -> None:
    """Read the options, run, report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=Options.minutes, help="how long faults come")
    parser.add_argument("--seed", type=int, default=Options.seed, help="of faults, jobs and hostile input")
    parser.add_argument("--faults", type=float, default=Options.faults_per_minute, help="faults a minute")
    parser.add_argument("--brokers", type=int, choices=(1, 3), default=Options.brokers, help="brokers")
    parser.add_argument(
        "--keep", type=Path, help="keep data, logs and report.json in this directory, which must not exist"
    )
    parser.add_argument("--hostile", default=",".join(KINDS), help="kinds of hostile jobs, by turns (%(default)s)")
    given = parser.parse_args()
    kinds = tuple(given.hostile.split(","))
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"expected kinds among {', '.join(KINDS)}, got {', '.join(sorted(unknown))}")
    options = Options(given.minutes, given.seed, given.faults, given.brokers, hostile=kinds)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # so that servers and commands end with us
    console = Console(width=None if sys.stdout.isatty() else 140)
    with ExitStack() as undo:
        if given.keep:
            scratch = given.keep.resolve()
            scratch.mkdir(parents=True)
        else:
            scratch = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="chaos-", ignore_cleanup_errors=True)))
        with console.status("") as status:
            outcome = run(options, scratch, status.update)
        save(outcome, scratch / "report.json")
        show(outcome, console)
    sys.exit(1 if outcome.problems else 0)


if __name__ == "__main__":
    main()
