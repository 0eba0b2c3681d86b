"""Runs the fuzz targets one after the other: `make fuzz MINUTES=60 SEED=1`. Exits with 1 where one fails."""

import argparse
import gc
import logging
import os
import sys
from pathlib import Path

import structlog
from hypothesis import configuration

from .groups import TARGETS
from .running import run

KEPT = Path(".cache") / "fuzz"


def main() -> None:
    """Read the options, run the targets, print a summary."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument(
        "targets", nargs="*", metavar="TARGET", help=f"all of them by default: {', '.join(sorted(TARGETS))}"
    )
    parser.add_argument("--minutes", type=float, default=5.0, help="time for all targets together (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the mutations (%(default)s)")
    parser.add_argument("--kept", type=Path, default=KEPT, help="directory of failing inputs (%(default)s)")
    parser.add_argument("--list", action="store_true", help="print the names of the targets and end")
    given = parser.parse_args()
    if unknown := set(given.targets) - set(TARGETS):
        parser.error(f"expected names of targets, got {', '.join(sorted(unknown))}; --list prints them")
    if given.list:
        print("\n".join(TARGETS))
        return
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    logging.disable(logging.CRITICAL)
    configuration.set_hypothesis_home_dir(given.kept / "hypothesis")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    gc.freeze()
    names = given.targets or sorted(TARGETS)
    failed, tried = [], 0
    for number, name in enumerate(names, 1):
        outcome = run(TARGETS[name], 60 * given.minutes / len(names), given.seed * 1_000_000, given.kept)
        tried += outcome.inputs
        print(
            f"{number:>3}/{len(names)} {name:<28} {outcome.inputs:>8,} inputs  {'FAILED' if outcome.failure else 'ok'}",
            flush=True,
        )
        if outcome.failure:
            failed.append(name)
            print(f"{outcome.failure}\ninput: {outcome.file}\n", flush=True)
    print(f"{len(names)} targets, {tried:,} inputs, {len(failed)} failed{': ' if failed else ''}{', '.join(failed)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
