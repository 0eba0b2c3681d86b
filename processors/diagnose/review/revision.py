"""What may follow from a model's second look at a verdict: it may refine what is uncertain, and never turns around what is certain.

* A certain verdict (confidence 0.8 or more: those that may lead to an action) stays as it is, whatever the model says.
* An uncertain one gains or loses a little confidence as the model agrees or not, and never reaches 0.8 by that. What it leaves open
  (whether starting again helps, which component) is filled where the model agrees on the rest.
* What is `unknown` may be filled, at a confidence of 0.5 at most, where the lines that the model names speak of such a cause themselves.
* A root line is never exchanged for another. Where there is none, one inside the window may be named, if it is an error by itself.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from schedmate_records import (
    Certainty,
    Component,
    ErrorType,
    Evidence,
    Failure,
    FailureSource,
    Position,
    Review,
    derived_id,
)

CERTAIN = 0.8
"""Confidence from which a verdict is not touched; by default the bridge acts on such verdicts alone."""
_MOST_RAISED = 0.79
_RAISED, _LOWERED = 0.1, 0.8
FILLED = {Certainty.LOW: 0.3, Certainty.MEDIUM: 0.4, Certainty.HIGH: 0.5}
"""Confidence of what a model alone says, by how sure it calls itself."""

_BAD = re.compile(
    r"(?i)error|exception|fatal|fail|abort|killed|panic|fault|timed? ?out|refused|denied|no space|corrupt|unreachable|lost|\bxid\b"
)
_ABOUT = {
    Component.GPU: re.compile(r"(?i)\bgpu|cuda|\bxid\b|\becc\b|nvidia|nvrm|cudnn|cublas|device-side|hbm"),
    Component.NVLINK: re.compile(r"(?i)nvlink|nvswitch|sxid|fabric ?manager"),
    Component.NETWORK: re.compile(r"(?i)nccl|gloo|network|socket|connect|infiniband|\bib_|mlx5|rdma|roce|dns|host"),
    Component.NODE: re.compile(r"(?i)\bnode|host|slurmd|kernel|oom|memory|reboot|mce|machine check|pcie"),
    Component.STORAGE: re.compile(r"(?i)disk|space|quota|lustre|nfs|gpfs|ceph|file ?system|i/o|stale|read-only|mount"),
}


def revised(verdict: Failure, review: Review, lines: Sequence[Evidence], position: Position) -> Failure | None:
    """Return the verdict as `review` revises it; None where nothing changes.

    Args:
        verdict: The newest verdict of the attempt.
        review: What a model says.
        lines: The lines that it rests on.
        position: Of the input that brought the answer; the revision's id follows from it.
    """
    if verdict.confidence >= CERTAIN or ErrorType.NONE in (verdict.error_type, review.error_type):
        return None
    if review.error_type is ErrorType.UNKNOWN:
        return None
    grounded = grounds(lines)
    changed = _filled if verdict.error_type is ErrorType.UNKNOWN else _weighed
    changes = changed(verdict, review, grounded)
    if not changes:
        return None
    return msgspec.structs.replace(
        verdict,
        id=derived_id("failure-review", verdict.job, position, verdict.root.line if verdict.root else 0),
        revision=verdict.revision + 1,
        **changes,
    )


def _weighed(verdict: Failure, review: Review, grounded: Sequence[Evidence]) -> dict[str, Any]:
    """Return what an answer changes in an uncertain verdict: its confidence, and what it leaves open."""
    if review.error_type is not verdict.error_type:
        return {"confidence": round(verdict.confidence * _LOWERED, 3)}
    raised = max(verdict.confidence, min(verdict.confidence + _RAISED, _MOST_RAISED))
    changes: dict[str, Any] = {"confidence": round(raised, 3)}
    if verdict.restartable is None and review.restartable is not None:
        changes["restartable"] = review.restartable
    if (
        verdict.error_type is ErrorType.INFRASTRUCTURE
        and verdict.faulty_component is Component.OTHER
        and _speak(grounded, review.faulty_component)
    ):
        changes["faulty_component"] = review.faulty_component
    return {} if raised == verdict.confidence and len(changes) == 1 else changes


def _filled(verdict: Failure, review: Review, grounded: Sequence[Evidence]) -> dict[str, Any]:
    """Return what an answer fills in an unknown verdict; nothing where the lines that it names do not bear it out."""
    infrastructure = review.error_type is ErrorType.INFRASTRUCTURE
    if not grounded or infrastructure != (review.faulty_component in _ABOUT):
        return {}
    if infrastructure and not _speak(grounded, review.faulty_component):
        return {}
    changes: dict[str, Any] = {
        "error_type": review.error_type,
        "faulty_component": review.faulty_component if infrastructure else Component.NONE,
        "confidence": max(verdict.confidence, FILLED[review.certainty]),
        "source": FailureSource.MODEL,
    }
    if verdict.restartable is None and review.restartable is not None:
        changes["restartable"] = review.restartable
    if verdict.root is None and (root := next((one for one in grounded if one.line == review.root), None)):
        changes |= {"root": root, "rank": root.rank, "message": root.text, "evidence": [root, *verdict.evidence]}
    return changes


def _speak(lines: Sequence[Evidence], component: Component) -> bool:
    """Return whether one of the lines is about `component`."""
    return component in _ABOUT and any(_ABOUT[component].search(each.text) for each in lines)


def grounds(lines: Sequence[Evidence]) -> list[Evidence]:
    """Return those of the lines that call themselves something bad."""
    return [each for each in lines if _BAD.search(each.text)]
