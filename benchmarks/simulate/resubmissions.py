"""How long the users of Helios Venus took to submit a failed job again."""

import bisect
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from schedmate.simulate.reading import rows

LONGEST_S = 86_400.0
"""What comes later is taken for another job."""


def resubmission_delays(trace: Path) -> Sequence[float]:
    """Return, for each failed job, the seconds until its user's next submission of as many GPUs.

    The trace has no start times: a job's end is taken as its submission plus its duration. Most of these jobs failed by an error of their
    own, under the eyes of who wrote it, so that a job that a node takes with it at night waits longer than this says.

    Args:
        trace: In the columns of Helios, with `user` and `state`.
    """
    failed: list[tuple[tuple[str, str], float]] = []
    submitted: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows(trace):
        key, at = (row.text("user"), row.text("gpu_num")), row.number("submit_s")
        submitted[key].append(at)
        if row.text("state") in {"FAILED", "NODE_FAIL"}:
            failed.append((key, at + row.number("duration")))
    for times in submitted.values():
        times.sort()
    delays = []
    for key, ended in failed:
        place = bisect.bisect_left(submitted[key], ended)
        if place < len(submitted[key]) and submitted[key][place] - ended <= LONGEST_S:
            delays.append(submitted[key][place] - ended)
    return delays
