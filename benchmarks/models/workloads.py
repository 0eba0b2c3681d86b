"""What jobs train: the agent, completed by the deterministic reader, on source trees whose truth is known."""

import random
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

from processors.advise.agent import Filled, Tools, combined, fill
from processors.advise.agent.claims import FIELDS
from processors.advise.agent.prompt import KIND
from processors.advise.metadata import Job
from processors.advise.metadata.reading import workload
from schedmate.models.language_models import ask_or_none
from schedmate_records import Workload
from scheduler_bridge.sources.tree import DirectoryTree
from streams.model_worker.language_model import LanguageModel

from ..workloads import JOBS, matches, write_tree
from .asking import Noted
from .judged import Tally, points


def measure(model: LanguageModel, most: int, concurrency: int) -> Iterator[Tally]:
    """Yield one row: the fields without and with the model; a field that is rightly null is right."""
    row = Tally("what a job trains")
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(concurrency) as pool:
        chosen = list(islice(_jobs(Path(scratch)), most))
        for (_, job, before), (filled, noted) in zip(
            chosen, pool.map(lambda one: _ask(model, *one), chosen), strict=True
        ):
            row.subjects, row.considered = row.subjects + 1, len(JOBS)
            row.effective += bool(filled.claims)
            noted.count(row)
            after = combined(filled.workload, before, job["command"])
            for name in FIELDS:
                accepted = job["accepted"][name]
                row.judge(_points(before, name, accepted), _points(after, name, accepted))
    yield row


def _jobs(scratch: Path) -> Iterator[tuple[Path, dict[str, Any], Workload]]:
    for place, job in enumerate(random.Random(0).sample(JOBS, len(JOBS))):
        tree = write_tree(scratch / str(place), job["tree"])
        found = workload(
            DirectoryTree(tree), Job(tree, tree / job["directory"], job["command"], job["devices"], job["nodes"])
        )
        yield tree, job, found


def _ask(model: LanguageModel, tree: Path, job: dict[str, Any], found: Workload) -> tuple[Filled, Noted]:
    noted = Noted(model, KIND)
    return fill(Workload(gpus=found.gpus), Tools(DirectoryTree(tree)), job["command"], ask_or_none(noted)), noted


def _points(found: Workload, name: str, accepted: list[Any]) -> dict[str, float]:
    value = getattr(found, name)
    return {name: points(value, any(matches(value, each) for each in accepted))}
