"""What Sia's authors measured of five trainings on three GPU types, and the goodput that follows from it.

Goodput is the progress of a training: steps at its first batch size, a second. It is throughput times how much each sample of a larger
batch is still worth, which follows from the noise of gradients (Qiao et al., Pollux, OSDI 2021, section 3).
"""

import csv
import io
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Rows = list[Mapping[str, str]]
BATCH_SIZES = 50
"""Total batch sizes that are tried, in geometric steps."""


@dataclass(frozen=True)
class Config:
    """GPUs that a job can have: a part of one node, or whole nodes (Sia, section 3.3).

    Attributes:
        gpu_type: Of all of them.
        nodes: On how many nodes.
        gpus: In all.
    """

    gpu_type: str
    nodes: int
    gpus: int


@dataclass(frozen=True)
class GpuType:
    """Nodes of one type.

    Attributes:
        name: As the measurements have it.
        nodes: How many.
        gpus: Of each.
    """

    name: str
    nodes: int
    gpus: int


CLUSTER = (GpuType("aws", 6, 4), GpuType("dgx-ext", 2, 8), GpuType("rtx", 3, 8))
"""The 64 GPUs of Sia's heterogeneous cluster (section 4.1): T4, A100 and RTX 2080 Ti."""


def configs(cluster: Sequence[GpuType] = CLUSTER) -> list[Config]:
    """Return what a job can have: 1, 2, 4 … GPUs of a node, or one or more whole nodes."""
    found = []
    for kind in cluster:
        parts = [2**power for power in range(kind.gpus.bit_length()) if 2**power < kind.gpus]
        found += [Config(kind.name, 1, gpus) for gpus in parts]
        found += [Config(kind.name, nodes, nodes * kind.gpus) for nodes in range(1, kind.nodes + 1)]
    return found


@dataclass(frozen=True)
class Constants:
    """What the measurements do not hold of an application, as Sia's simulator has it.

    Attributes:
        restart_s: Seconds to start, or to save and start elsewhere.
        slowdown: How much slower it was on a real cluster than these measurements say.
    """

    restart_s: float
    slowdown: float


CONSTANTS = {
    "cifar10": Constants(50, 1.8),
    "deepspeech2": Constants(25, 1.2),
    "bert": Constants(120, 1.2),
    "yolov3": Constants(80, 1.2),
    "imagenet": Constants(250, 1.2),
}


@dataclass(frozen=True)
class Steps:
    """Measured times of a step, by samples on each GPU.

    Attributes:
        batch: Samples, ascending.
        step_s: Seconds of a step.
        sync_s: Of them, seconds in which gradients are exchanged.
    """

    batch: Floats
    step_s: Floats
    sync_s: Floats

    def at(self, samples: Floats) -> tuple[Floats, Floats]:
        """Return both between the measurements."""
        return np.interp(samples, self.batch, self.step_s), np.interp(samples, self.batch, self.sync_s)


@dataclass(frozen=True)
class Application:
    """A training.

    Attributes:
        name: Of the model.
        constants: What was not measured.
        ends: Progress at the end of each epoch; the last is the work of a whole training.
        goodput: Of each of the configurations in each epoch, configurations x epochs; 0 where it was not measured.
        unhindered: The same, were no time spent on exchanging gradients: what one expects who knows a single GPU alone.
    """

    name: str
    constants: Constants
    ends: Floats
    goodput: Floats
    unhindered: Floats

    def epoch(self, progress: float) -> int:
        """Return the epoch that a training is in."""
        return min(int(np.searchsorted(self.ends, progress, "right")), len(self.ends) - 1)


class Validation:
    """Trainings at fixed batch sizes: progress and noise of gradients after each epoch.

    Args:
        rows: By batch size.
    """

    def __init__(self, rows: Mapping[int, Rows]) -> None:
        self.batches = np.array(sorted(rows), dtype=np.float64)
        self.ends = self._column(rows, "progress").min(axis=0)
        self._square = self._column(rows, "grad_sqr")
        self._variance = self._column(rows, "grad_var")

    def gain(self, batch: Floats) -> Floats:
        """Return what a step at each batch size is worth in steps at the first one, batch sizes x epochs."""
        square, variance = (
            np.stack([np.interp(batch, self.batches, values) for values in each.T], axis=1)
            for each in (self._square, self._variance)
        )
        scale = (batch / self.batches[0])[:, None]
        worth: Floats = (variance + square) / (variance / scale + square)
        return worth

    def _column(self, rows: Mapping[int, Rows], name: str) -> Floats:
        return np.array([[float(row[name]) for row in rows[int(batch)]] for batch in self.batches])


def read_applications(archive: Path, cluster: Sequence[GpuType] = CLUSTER) -> dict[str, Application]:
    """Read `sia_workloads_traces.tar.gz`.

    Raises:
        KeyError: A file of an application is missing.
    """
    with tarfile.open(archive) as opened:
        files = {
            member.name.removeprefix("./"): member
            for member in opened.getmembers()
            if member.isfile() and member.name.endswith(".csv")
        }

        def rows(name: str) -> Rows:
            stream = opened.extractfile(files[f"traces/{name}"])
            assert stream is not None
            return list(csv.DictReader(io.TextIOWrapper(stream, "utf-8")))

        found = {}
        for name, constants in CONSTANTS.items():
            runs = {
                int(file.split("-")[-1].removesuffix(".csv")): rows(f"{name}/{file.split('/')[-1]}")
                for file in files
                if file.startswith(f"traces/{name}/validation-")
            }
            steps = {
                kind.name: _steps(
                    kind, rows(f"{name}/placements-{kind.name}.csv"), rows(f"{name}/scalability-{kind.name}.csv")
                )
                for kind in cluster
            }
            found[name] = application(name, constants, Validation(runs), steps, configs(cluster))
    return found


def application(
    name: str,
    constants: Constants,
    validation: Validation,
    steps: Mapping[str, Mapping[int, Steps]],
    among: Sequence[Config],
) -> Application:
    """Work out the goodput of each configuration in each epoch.

    Args:
        name: Of the model.
        constants: What was not measured.
        validation: Its trainings at fixed batch sizes.
        steps: Measured times of a step by GPU type and GPUs.
        among: The configurations.
    """
    shape = len(among), len(validation.ends)
    goodput, unhindered = np.zeros(shape), np.zeros(shape)
    for place, config in enumerate(among):
        measured = steps[config.gpu_type]
        if config.gpus in measured:
            goodput[place] = _best(validation, measured[config.gpus], config.gpus)
        if 1 in measured:
            alone = measured[1]
            free = Steps(alone.batch, alone.step_s - alone.sync_s, np.zeros_like(alone.sync_s))
            unhindered[place] = _best(validation, free, config.gpus)
    slow = constants.slowdown
    return Application(name, constants, validation.ends, goodput / slow, unhindered / slow)


def _best(validation: Validation, steps: Steps, gpus: int) -> Floats:
    """Return the goodput at the best batch size, by epoch; gradients are added up where a batch does not fit into the memory."""
    least = max(validation.batches[0], steps.batch[0] * gpus)
    if least > validation.batches[-1]:
        return np.zeros(len(validation.ends))
    batch = np.geomspace(least, validation.batches[-1], BATCH_SIZES)
    parts = np.ceil(batch / gpus / steps.batch[-1] - 1e-8)
    if gpus == 1:
        # One GPU sees the noise of gradients only between two parts of a batch.
        parts = np.where(batch > validation.batches[0] + 1e-8, np.maximum(parts, 2), parts)
    each = batch / gpus / parts
    step, sync = steps.at(each)
    seconds = np.where(each >= steps.batch[0] - 1e-8, step + (parts - 1) * (step - sync), np.inf)
    best: Floats = (validation.gain(batch) / seconds[:, None]).max(axis=0)
    return best


def _steps(kind: GpuType, placements: Rows, scalability: Rows) -> dict[int, Steps]:
    """Return what was measured on whole nodes, and on parts of one."""
    measured: dict[int, dict[float, tuple[float, float]]] = {}
    for gpus, row in (*_scaled(kind, scalability), *_placed(kind, placements)):
        measured.setdefault(gpus, {})[float(row["local_bsz"])] = float(row["step_time"]), float(row["sync_time"])
    return {
        gpus: Steps(
            np.array(sorted(by_batch)),
            np.array([by_batch[batch][0] for batch in sorted(by_batch)]),
            np.array([by_batch[batch][1] for batch in sorted(by_batch)]),
        )
        for gpus, by_batch in measured.items()
    }


def _placed(kind: GpuType, rows: Rows) -> Iterator[tuple[int, Mapping[str, str]]]:
    """A placement is the GPUs on each node, a digit a node."""
    for row in rows:
        digits = [int(digit) for digit in row["placement"]]
        if len(digits) == 1 or set(digits) == {kind.gpus}:
            yield sum(digits), row


def _scaled(kind: GpuType, rows: Rows) -> Iterator[tuple[int, Mapping[str, str]]]:
    for row in rows:
        nodes, gpus = round(float(row["num_nodes"])), round(float(row["num_replicas"]))
        if nodes == 1 or gpus == nodes * kind.gpus:
            yield gpus, row
