"""The jobs of a trace in any known format. The columns or the first character identify the format."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ..job import Job
from ..reading import Row, TraceError, opened, rows
from . import acme, helios, openb, own, pai, philly, philly_json, slurm, supercloud

CSV_FORMATS: Mapping[str, tuple[Sequence[str], Callable[[Row, int], Job]]] = {
    "own": (own.COLUMNS, own.job_of),
    "Helios": (helios.COLUMNS, helios.job_of),
    "Acme": (acme.COLUMNS, acme.job_of),
    "Philly": (philly.COLUMNS, philly.job_of),
    "openb": (openb.COLUMNS, openb.job_of),
    "MIT SuperCloud": (supercloud.COLUMNS, supercloud.job_of),
}
"""The columns that identify a CSV format, and what makes a job of a row and its number. The first match counts."""


class Trace(msgspec.Struct):
    """Content of a trace.

    Attributes:
        jobs: Jobs that use GPUs, in the order in which they were submitted.
        without_gpus: Jobs that use none, in the order of the file. They are not simulated.
        unfinished: Number of jobs without a start or an end.
        unreadable: Number of rows that could not be read.
    """

    jobs: list[Job]
    without_gpus: list[Job] = []
    unfinished: int = 0
    unreadable: int = 0

    def left_out(self) -> str:
        """Return how many jobs were left out and why; empty if none were."""
        parts = [
            (len(self.without_gpus), "use no GPU"),
            (self.unfinished, "have no start or no end"),
            (self.unreadable, "could not be read"),
        ]
        return ", ".join(f"{number:,} {reason}" for number, reason in parts if number)


def read_trace(path: Path) -> Trace:
    """Read a trace.

    Args:
        path: A file, plain or gzip: CSV with the columns of `CSV_FORMATS` and any others, `sacct` output, or Philly's JSON. A directory
            holds the tables of PAI.

    Raises:
        TraceError: The format is unknown, a value is missing or not a number, or no job uses GPUs.
    """
    trace = Trace([])
    order: list[float] = []
    for job, tie_order in _jobs(path, trace):
        if job.total_gpus <= 0:
            trace.without_gpus.append(job)
        elif job.duration_s < 0:
            trace.unfinished += 1
        else:
            trace.jobs.append(job)
            order.append(tie_order)
    if not trace.jobs:
        why = trace.left_out()
        raise TraceError(f"{path.name}: expected jobs that ask for GPUs, found none" + (f" ({why})" if why else ""))
    places = sorted(range(len(order)), key=lambda place: (trace.jobs[place].submit_s, order[place]))
    trace.jobs = [trace.jobs[place] for place in places]
    return trace


def read_jobs(path: Path) -> list[Job]:
    """Return the jobs of a trace that use GPUs, in the order in which they were submitted. See `read_trace`."""
    return read_trace(path).jobs


def _jobs(path: Path, trace: Trace) -> Iterator[tuple[Job, float]]:
    """Yield jobs, each with what orders jobs that were submitted in the same second."""
    if path.is_dir():
        yield from ((job, float(number)) for number, job in enumerate(pai.jobs(path)))
        return
    with opened(path) as stream:
        start = stream.readline(65_536)
    if start.lstrip()[:1] == "[":
        yield from ((job, float(number)) for number, job in enumerate(philly_json.jobs(path)))
    elif "|" in start:
        found = slurm.read(path)
        trace.unfinished, trace.unreadable = found.unfinished, found.skipped
        yield from ((job, float(number)) for number, job in enumerate(slurm.jobs(found)))
    else:
        make: Callable[[Row, int], Job] | None = None
        for number, row in enumerate(rows(path)):
            make = make or _maker(row)
            yield make(row, number), row.number("tie_order", number)


def _maker(row: Row) -> Callable[[Row, int], Job]:
    for columns, make in CSV_FORMATS.values():
        if all(column in row.fields for column in columns):
            return make
    wanted = "; ".join(f"{name}: {', '.join(columns)}" for name, (columns, _) in CSV_FORMATS.items())
    raise TraceError(
        f"{row.where}: expected the columns of a trace ({wanted}; or what this prints: {slurm.COMMAND}), "
        f"found {', '.join(map(str, row.fields))[:200]}"
    )


def partitions(jobs: list[Job]) -> Iterator[tuple[str, list[Job]]]:
    """Yield each partition that jobs name, sorted, with its jobs in their order."""
    found: dict[str, list[Job]] = {}
    for job in jobs:
        found.setdefault(job.partition, []).append(job)
    yield from sorted(found.items())
