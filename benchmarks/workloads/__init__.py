"""Jobs on source trees that were written for it, each in the style of one framework; their truth was written before they were read.

A file of `trees/` holds one tree: its files, each after a line `=== NAME`. `JOBS` lists the jobs. An accepted name that begins with `~`
matches within an answer; null is accepted where the source does not say.
"""

import json
import math
from pathlib import Path
from typing import Any

from processors.advise.metadata.registry import plain

TREES = Path(__file__).parent / "trees"
JOBS: list[dict[str, Any]] = [
    json.loads(line) for line in (TREES / "jobs.jsonl").read_text(encoding="utf-8").splitlines()
]


def write_tree(root: Path, name: str) -> Path:
    """Write the files of the tree `name` below `root`, and return `root`."""
    for part in (TREES / f"{name}.txt").read_text(encoding="utf-8").split("=== ")[1:]:
        file, _, content = part.partition("\n")
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return root


def matches(answer: Any, accepted: Any) -> bool:
    """Return whether an answer is the accepted value: numbers to a millionth, names without their owner and punctuation."""
    if isinstance(accepted, str) and isinstance(answer, str):
        if accepted.startswith("~"):
            return plain(accepted) in plain(answer)
        return plain(answer.rpartition("/")[2]) == plain(accepted.rpartition("/")[2])
    if isinstance(answer, int | float) and isinstance(accepted, int | float):
        return math.isclose(answer, accepted, rel_tol=1e-6)
    return bool(answer == accepted)
