"""What may follow from a model's second look at a verdict: it may refine what is uncertain, and never turns around what is certain.

* A certain verdict (confidence 0.8 or more: those that may lead to an action) stays as it is, whatever the model says.
* An uncertain one gains or loses a little confidence as the model agrees or not, and never reaches 0.8 by that. What it leaves open
  (whether starting again helps, which component) is filled where the model agrees on the rest.
* What is `unknown` may be filled, at a confidence of 0.5 at most, where the lines that the model names speak of such a cause themselves.
* A root line is never exchanged for another. Where there is none, one inside the window may be named, if it is an error by itself.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from records import Component, ErrorType, Evidence, Failure, Position, derived_id

from .quoting import NumberedLine

CERTAIN = 0.8
"""Confidence from which a verdict is not touched; by default the bridge acts on such verdicts alone."""
_MOST_RAISED = 0.79
_RAISED, _LOWERED = 0.1, 0.8
FILLED = {"low": 0.3, "medium": 0.4, "high": 0.5}
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


def revised(
    verdict: Failure,
    content: Mapping[str, Any],
    shown: Sequence[NumberedLine],
    position: Position,
    evidence: Callable[[NumberedLine], Evidence],
) -> Failure | None:
    """Return the verdict as `content`, an answer inside the schema, revises it; None where nothing changes.

    Args:
        verdict: The newest verdict of the attempt.
        content: The answer.
        shown: The lines that the model was shown; a line outside of them counts for nothing.
        position: Of the input that brought the answer; the revision's id follows from it.
        evidence: Returns a shown line with its place.
    """
    if verdict.confidence >= CERTAIN or verdict.error_type is ErrorType.NONE:
        return None
    said = ErrorType(content["error_type"])
    if said is ErrorType.UNKNOWN:
        return None
    changes = _filled(verdict, said, content, shown, evidence) if verdict.error_type is ErrorType.UNKNOWN else None
    if changes is None and verdict.error_type is not ErrorType.UNKNOWN:
        changes = _weighed(verdict, said, content, grounds(content, shown))
    if not changes:
        return None
    return msgspec.structs.replace(
        verdict,
        id=derived_id("failure-review", verdict.job, position, verdict.root.line if verdict.root else 0),
        revision=verdict.revision + 1,
        **changes,
    )


def _weighed(
    verdict: Failure, said: ErrorType, content: Mapping[str, Any], cited: Sequence[NumberedLine]
) -> dict[str, Any]:
    """Return what an answer changes in an uncertain verdict: its confidence, and what it leaves open."""
    if said is not verdict.error_type:
        return {"confidence": round(verdict.confidence * _LOWERED, 3)}
    raised = max(verdict.confidence, min(verdict.confidence + _RAISED, _MOST_RAISED))
    changes: dict[str, Any] = {"confidence": round(raised, 3)}
    if verdict.restartable is None and content["restartable"] != "unknown":
        changes["restartable"] = content["restartable"] == "yes"
    component = Component(content["component"])
    if (
        verdict.error_type is ErrorType.INFRASTRUCTURE
        and verdict.faulty_component is Component.OTHER
        and _speak(cited, component)
    ):
        changes["faulty_component"] = component
    return {} if raised == verdict.confidence and len(changes) == 1 else changes


def _filled(
    verdict: Failure,
    said: ErrorType,
    content: Mapping[str, Any],
    shown: Sequence[NumberedLine],
    evidence: Callable[[NumberedLine], Evidence],
) -> dict[str, Any] | None:
    """Return what an answer fills in an unknown verdict; None where the lines that it names do not bear it out."""
    cited = grounds(content, shown)
    component = Component(content["component"])
    if not cited or (said is ErrorType.INFRASTRUCTURE) != (component in _ABOUT):
        return None
    if said is ErrorType.INFRASTRUCTURE and not _speak(cited, component):
        return None
    changes: dict[str, Any] = {
        "error_type": said,
        "faulty_component": component if said is ErrorType.INFRASTRUCTURE else Component.NONE,
        "confidence": max(verdict.confidence, FILLED[content["confidence"]]),
        "source": "model",
    }
    if verdict.restartable is None and content["restartable"] != "unknown":
        changes["restartable"] = content["restartable"] == "yes"
    if verdict.root is None and (root := next((one for one in cited if one.number == content["root_line"]), None)):
        place = evidence(root)
        changes |= {"root": place, "rank": place.rank, "message": place.text, "evidence": [place, *verdict.evidence]}
    return changes


def _speak(cited: Sequence[NumberedLine], component: Component) -> bool:
    """Return whether one of the lines is about `component`."""
    return component in _ABOUT and any(_ABOUT[component].search(each.text) for each in cited)


def grounds(content: Mapping[str, Any], shown: Sequence[NumberedLine]) -> list[NumberedLine]:
    """Return the lines that the answer names, as far as they were shown and call themselves something bad."""
    named = {content["root_line"], *content["lines"]}
    return [each for each in shown if each.number in named and _BAD.search(each.text)]
