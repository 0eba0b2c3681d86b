"""Makes the corpus again: runs every case, checks how it ended, finds the root by its mark, writes logs and labels.

`python -m benchmarks.corpus.failures.generate` makes all; `… generate python files/disk_full` some families or cases.
"""

import argparse
import importlib
import json
import pkgutil
import platform
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.corpus.failures import cases as families
from benchmarks.corpus.failures.case import Case, UnexpectedEnd
from benchmarks.corpus.failures.environments import python
from benchmarks.corpus.failures.label import UnexpectedLog, label
from benchmarks.corpus.failures.run import run

LOGS = Path(__file__).with_name("logs")
VERSIONS = LOGS / "versions.json"


def load() -> dict[str, list[Case]]:
    """Return the cases of each family, by the family's name."""
    names = sorted(module.name for module in pkgutil.iter_modules(families.__path__))
    return {name: importlib.import_module(f"{families.__name__}.{name}").CASES for name in names}


def labels(family: str) -> list[dict[str, Any]]:
    """Return the committed labels of `family`."""
    path = LOGS / family / "truth.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def make(family: str, case: Case) -> None:
    """Run `case`, write its log, and its label in place of the old one.

    Raises:
        UnexpectedEnd: It did not end as it must.
        UnexpectedLog: Its mark is not in the log.
        FileNotFoundError: What it needs is not there.
    """
    text = run(case)
    folder = LOGS / family
    folder.mkdir(parents=True, exist_ok=True)
    # Written first: where the mark is missing, the log shows what the program printed instead.
    (folder / f"{case.name}.log").write_bytes(text.encode())
    new = label(family, case, text)
    _write(family, [*(old for old in labels(family) if old["file"] != new["file"]), new])


def relabel(family: str, cases: Iterable[Case]) -> None:
    """Write the labels of `family` again from its stored logs: for a truth that was reworded."""
    there = [(case, LOGS / family / f"{case.name}.log") for case in cases]
    _write(family, [label(family, case, path.read_bytes().decode()) for case, path in there if path.exists()])


def _write(family: str, found: list[dict[str, Any]]) -> None:
    found.sort(key=lambda one: str(one["file"]))
    (LOGS / family / "truth.jsonl").write_text("".join(json.dumps(one) + "\n" for one in found))


def _versions(environments: set[str]) -> None:
    """Note which versions made the logs of `environments`."""
    known = json.loads(VERSIONS.read_text()) if VERSIONS.exists() else {}
    for name in environments:
        known[name] = {"python": platform.python_version(), "kernel": platform.release().partition("-")[0]}
        if name in ("torch", "cuda"):
            listed = subprocess.run([python(name), "-m", "pip", "freeze"], capture_output=True, text=True, check=True)
            wanted = (
                "torch=",
                "lightning=",
                "transformers=",
                "ray=",
                "jax=",
                "keras=",
                "triton=",
                "cupy",
                "mpi4py=",
                "openmpi=",
                "numpy=",
                "PyYAML=",
                "omegaconf=",
            )
            known[name]["packages"] = [line for line in listed.stdout.splitlines() if line.startswith(wanted)]
        if name == "slurm":
            known[name]["slurm"] = subprocess.run(
                ["slurmd", "-V"], capture_output=True, text=True, check=True
            ).stdout.strip()
    VERSIONS.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def main() -> None:
    """Make what the command line names, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="families, or family/case")
    parser.add_argument("--relabel", action="store_true", help="run nothing: find the marks in the stored logs again")
    parser.add_argument("--new", action="store_true", help="only cases without a log")
    options = parser.parse_args()
    failed, environments = 0, set()
    for family, cases in load().items():
        chosen = [case for case in cases if not options.names or {family, f"{family}/{case.name}"} & set(options.names)]
        if options.relabel and chosen:
            relabel(family, cases)
            continue
        for case in chosen:
            if options.new and (LOGS / family / f"{case.name}.log").exists():
                continue
            try:
                make(family, case)
            except (UnexpectedEnd, UnexpectedLog, FileNotFoundError) as error:
                failed += 1
                print(f"FAILED {family}/{case.name}: {error}", file=sys.stderr, flush=True)
                continue
            environments.add(case.environment)
            print(f"made {family}/{case.name}", flush=True)
    if environments:
        _versions(environments)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
