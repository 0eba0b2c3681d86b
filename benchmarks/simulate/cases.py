"""Cases of a long comparison, kept one by one: what was interrupted goes on where it was."""

from collections.abc import Callable, Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from benchmarks.simulate.progress import show_progress

Case = TypeVar("Case", bound=msgspec.Struct)
Result = TypeVar("Result", bound=msgspec.Struct)


class Kept(Generic[Case, Result]):
    """Results in a file, a line each.

    A case is known by all that was asked for, and not by the code that answered: delete the file, or say `--fresh`, to measure anew.

    Args:
        file: JSON lines. The last one may be torn, where a run was killed as it wrote.
        case: What is asked for; frozen.
        result: What was found.
        fresh: Forget what is there.
    """

    def __init__(self, file: Path, case: type[Case], result: type[Result], *, fresh: bool = False) -> None:
        self._file = file
        if fresh:
            file.unlink(missing_ok=True)
        self.found: dict[Case, Result] = {}
        whole = 0
        text = file.read_bytes() if file.exists() else b""
        for line in text.splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            whole += len(line)
            first, second = msgspec.json.decode(line, type=tuple[msgspec.Raw, msgspec.Raw])
            self.found[msgspec.json.decode(first, type=case)] = msgspec.json.decode(second, type=result)
        if whole < len(text):
            with file.open("r+b") as stream:
                stream.truncate(whole)

    def add(self, case: Case, result: Result) -> None:
        """Keep a result."""
        self.found[case] = result
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("ab") as stream:
            stream.write(msgspec.json.encode((case, result)) + b"\n")


def measure(
    kept: Kept[Case, Result],
    cases: Sequence[Case],
    run: Callable[[Case], Result],
    processes: int,
    report: Callable[[dict[Case, Result]], None],
) -> dict[Case, Result]:
    """Run the cases that nobody ran yet, and report after each of them.

    Args:
        kept: What is known.
        cases: In the order in which they are reported.
        run: Works a case out, in a process of its own.
        processes: That run side by side.
        report: Is told all results so far.

    Returns:
        The result of each case.
    """

    def sofar() -> dict[Case, Result]:
        return {case: kept.found[case] for case in cases if case in kept.found}

    missing = [case for case in cases if case not in kept.found]
    with Pool(processes) as pool:
        answers = pool.imap_unordered(_Answer(run), missing)
        for case, result in show_progress(answers, "cases replayed", len(missing)):
            kept.add(case, result)
            report(sofar())
    found = sofar()
    report(found)
    return found


class _Answer(Generic[Case, Result]):
    def __init__(self, run: Callable[[Case], Result]) -> None:
        self._run = run

    def __call__(self, case: Case) -> tuple[Case, Result]:
        return case, self._run(case)
