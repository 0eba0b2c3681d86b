"""How right the jobs alike are, by metadata record and by command line: `python -m benchmarks.similar [--model DIR] [JOBS.JSONL]`.

With `--model` records are also embedded by a sentence embedder (ONNX).

Each labelled job is looked for among all others. A neighbour is right where both have the same task, and the same model or training data,
by their labels. Records are what the extractor reads, not the labels. Trees fall into two halves by their names; what was chosen (which
fields, which weights) was chosen on the first.
"""

import argparse
import json
import tempfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from processors.advise.metadata import Job
from processors.advise.metadata.reading import workload
from processors.advise.metadata.registry import plain
from processors.advise.past import SubmittedJob
from processors.advise.past.embedding import DIMENSIONS, Embed, Vector, by_model, embed_command, embed_workload
from processors.advise.past.estimator import THRESHOLD, TOP
from processors.classify.onnx import OnnxEmbedder
from scheduler_bridge.sources.tree import DirectoryTree

from .workloads import JOBS, write_tree


class Labelled:
    """A job whose truth is known, and what the advisor knows of it."""

    def __init__(self, label: dict[str, Any], tree: Path) -> None:
        launch = label.get("launch", {})
        devices = label.get("devices") or launch.get("ngpu", 1)
        nodes = label.get("nodes") or launch.get("nnodes", 1)
        directory = tree / label["directory"]
        self.tree: str = label["tree"]
        self.first_half = zlib.crc32(self.tree.encode()) % 2 == 0
        self.accepted = label["accepted"]
        found = workload(DirectoryTree(tree), Job(tree, directory, label["command"], devices, nodes))
        self.about = SubmittedJob(
            job="", command=label["command"], directory=str(Path(self.tree) / label["directory"]), workload=found
        )

    def is_like(self, other: "Labelled") -> bool:
        """Whether a job of the same task has the same model or data."""
        return self._same(other, "task_type") and (
            self._same(other, "model_name") or self._same(other, "dataset_train")
        )

    def _same(self, other: "Labelled", field: str) -> bool:
        mine, theirs = ({plain(str(each)) for each in job.accepted[field] if each is not None} for job in (self, other))
        return bool(mine & theirs)


def of_record(job: SubmittedJob) -> Vector:
    """Return the vector of a job's record."""
    assert job.workload
    return embed_workload(job.workload)


def or_zeros(embed: Embed, dimensions: int) -> Callable[[SubmittedJob], Vector]:
    """Return the same, with zeros where too little is known of a job."""
    nothing = np.zeros(dimensions, np.float32)
    return lambda job: nothing if (vector := embed(job)) is None else vector


def measure(jobs: Sequence[Labelled], embed: Callable[[SubmittedJob], Vector], *, first_half: bool) -> list[str]:
    """Return jobs, those that have a job alike, neighbours in the top 3, the share of them that are right, and those of other trees."""
    vectors = np.array([embed(job.about) for job in jobs])
    asked = [place for place, job in enumerate(jobs) if job.first_half == first_half]
    answered, right, elsewhere = 0, list[bool](), list[bool]()
    for place in asked:
        cosines = vectors @ vectors[place]
        cosines[place] = -1.0
        near = [each for each in np.argsort(-cosines, kind="stable")[:TOP] if cosines[each] >= THRESHOLD]
        answered += bool(near)
        right += [jobs[place].is_like(jobs[each]) for each in near]
        elsewhere += [jobs[place].is_like(jobs[each]) for each in near if jobs[each].tree != jobs[place].tree]
    return [f"{len(asked)}", f"{answered}", f"{sum(right)} of {len(right)}", f"{sum(elsewhere)} of {len(elsewhere)}"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.similar", description=__doc__)
    parser.add_argument("--model", type=Path, help="directory of an ONNX model and its tokenizer")
    parser.add_argument("labels", type=Path, nargs="*", help="more labelled jobs, beside their trees")
    wanted = parser.parse_args()
    ways: dict[str, Callable[[SubmittedJob], Vector]] = {"metadata record": of_record, "command line": embed_command}
    if wanted.model:
        embedder = OnnxEmbedder(wanted.model)
        dimensions = embedder.embed(["x"]).shape[1] + DIMENSIONS
        ways["metadata record, by the model"] = or_zeros(by_model(embedder.embed), dimensions)
    with tempfile.TemporaryDirectory() as scratch:
        jobs = [
            Labelled(job, write_tree(Path(scratch) / str(number) / job["tree"], job["tree"]))
            for number, job in enumerate(JOBS)
        ]
        for file in wanted.labels:
            for line in file.read_text(encoding="utf-8").splitlines():
                label = json.loads(line)
                jobs.append(Labelled(label, file.parent / label["tree"]))
    table = Table("text", "half", "jobs", "with one alike", "neighbours right", "of other trees", box=None)
    for name, embed in ways.items():
        for half in (True, False):
            table.add_row(name, "first" if half else "second", *measure(jobs, embed, first_half=half))
    Console().print(table)


if __name__ == "__main__":
    main()
