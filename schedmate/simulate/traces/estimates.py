"""Estimated durations."""

from pathlib import Path

from ..reading import rows


def read_estimates(file: Path) -> dict[str, float]:
    """Return estimated durations in seconds by job: columns `job_id` and `estimate_s`, or `priority` as in Lucid's files.

    Lucid's estimator gave negative durations to some jobs; like its simulator, this takes them for 1000 s.

    Raises:
        TraceError: A column is missing, or a value is not a number.
    """
    found = {}
    for row in rows(file):
        estimate = row.number("estimate_s" if row.has("estimate_s") else "priority")
        found[row.text("job_id")] = estimate if estimate >= 0 else 1000.0
    return found
