"""Recorded answers about failures, in the words of the labels, as the closed answers that the question asks for."""

from collections.abc import Mapping
from typing import Any

from schedmate_records import ErrorType


def closed_answer(recorded: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer inside `schema` that `recorded` amounts to; lines beyond the last one that is shown are left out."""
    parts = schema["properties"]
    last = parts["root_line"]["maximum"]
    root = recorded["root_line"] or 0
    return {
        "failed": "no" if recorded["error_type"] == ErrorType.NONE else "yes",
        "error_type": recorded["error_type"],
        "faulty_component": recorded["faulty_component"],
        "root_line": root if root <= last else 0,
        "evidence": [each for each in recorded["evidence"] if each <= last][: parts["evidence"]["maxItems"]],
        "restartable": {True: "yes", False: "no"}.get(recorded["restartable"], "unknown"),
        "confidence": recorded["confidence"],
        "summary": recorded["summary"][: parts["summary"]["maxLength"]],
    }
