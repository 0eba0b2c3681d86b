"""Logs whose speed, step and loss are known: those of the corpus, and folders of labelled logs."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.corpus.score import judge, stream_chunks
from schedmate_records import LogChunk
from streams.producers.stored import read_chunks

CORPUS = Path(__file__).parents[1] / "corpus" / "logs"
Verdicts = Mapping[str, str]
"""`right`, `missing` or `wrong` for `speed`, `step` and `loss`."""


@dataclass(frozen=True)
class LabelledLog:
    """A log, its chunks, and what judges the progress that is read from it."""

    name: str
    read: Callable[[], list[LogChunk]]
    judge: Callable[[Mapping[str, Any]], Verdicts]


def corpus_logs(every: int) -> Iterator[LabelledLog]:
    """Yield every so many-th log of the corpus, in chunks as `schedmate pipe` ships them."""
    for folder in sorted(each.parent for each in CORPUS.glob("*/*/truth.json"))[::every]:
        truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
        yield LabelledLog(
            str(folder.relative_to(CORPUS)),
            lambda folder=folder: list(stream_chunks(folder)),  # type: ignore[misc]
            lambda progress, truth=truth: judge(truth, dict(progress), streamed=True),  # type: ignore[misc]
        )


def logs_of(folder: Path) -> Iterator[LabelledLog]:
    """Yield the logs of a folder with labels in `truth.jsonl`: `file`, `truth`, `tolerance`, and values that are `also_acceptable`."""
    for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines():
        label = json.loads(line)
        yield LabelledLog(
            label["file"],
            lambda file=folder / label["file"]: list(read_chunks(file)),  # type: ignore[misc]
            lambda progress, label=label: judge_label(label, progress),  # type: ignore[misc]
        )


def judge_label(label: Mapping[str, Any], progress: Mapping[str, Any]) -> Verdicts:
    """Return how right speed, step and loss are. The speed is right if a step time or a rate is right and none is wrong."""
    fields = {name: _judged(label, progress, name) for name in ("step_time_s", "throughput", "last_step", "last_loss")}
    speeds = [fields[name] for name in ("step_time_s", "throughput")]
    stated = [name for name in ("step_time_s", "throughput") if label["truth"].get(name) is not None]
    speed = "wrong" if "wrong" in speeds else "missing"
    if speed != "wrong" and (not stated or any(fields[name] == "right" for name in stated)):
        speed = "right"
    return {"speed": speed, "step": fields["last_step"], "loss": fields["last_loss"]}


def _judged(label: Mapping[str, Any], progress: Mapping[str, Any], name: str) -> str:
    found, truth = progress.get(name), label["truth"].get(name)
    others = [each["value"] for each in label.get("also_acceptable") or () if each.get("field", name) == name]
    accepted = [each for each in (truth, *others) if each is not None]
    if found is None:
        return "right" if truth is None or None in others else "missing"
    tolerance = max(label.get("tolerance") or 0.0, 0.02)
    near = any(math.isclose(found, each, rel_tol=tolerance, abs_tol=1e-9) for each in accepted)
    unlabelled_rate = name == "throughput" and truth is None and label["truth"].get("step_time_s") is not None
    return "right" if near or unlabelled_rate else "wrong"
