"""The object that a restart makes: as the one before, elsewhere, and the next attempt of the same job."""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ....checkpoint_note import CHECKPOINT_VARIABLE
from ..client.lineage import ACTS, ATTEMPT, INCARNATION, LINEAGE, STOPPED_FOR, incarnation_of
from ..client.objects import Meta
from ..client.placement import with_excluded
from ..client.workloads.batch_job import Job
from ..client.workloads.kind import WorkloadObject

_OF_THE_CONTROLLER = frozenset(
    {
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-name",
        "controller-uid",
        "job-name",
    }
)
"""Labels by which the Job controller knows the pods of one Job."""
_OF_KUEUE = frozenset(
    f"kueue.x-k8s.io/{name}" for name in ("workload", "podset", "cluster-queue-name", "local-queue-name")
)
"""Marks that Kueue puts on pods when it admits them. A job with the marks of another one is finished at once."""


def successor_name(lineage: str, attempt: int) -> str:
    """Return the name of an attempt's Job. It follows from the attempt alone, so that there can be one only."""
    suffix = f"-r{attempt}"
    # A Job's name has 63 characters at most: it becomes the value of a label on its pods.
    return lineage[: 63 - len(suffix)].rstrip("-.") + suffix


def successor(
    before: Mapping[str, Any],
    kind: type[WorkloadObject],
    lineage: str,
    attempt: int,
    *,
    exclude: Iterable[str],
    acts: str,
    checkpoint: str = "",
) -> dict[str, Any]:
    """Return the manifest of the next attempt.

    Args:
        before: The object that ended, with all its fields, as the API server sends it.
        kind: Its kind.
        lineage: The name of the first object.
        attempt: The number of the new attempt.
        exclude: Nodes that it must not run on, besides those that it avoids already.
        acts: The value of the annotation of acts.
        checkpoint: Path from which it may go on; empty where none is known.
    """
    meta = before["metadata"]
    spec = copy.deepcopy(before["spec"])
    exclude = tuple(exclude)
    if issubclass(kind, Job) and not spec.get("manualSelector"):
        spec.pop("selector", None)
    for template in kind.pod_templates({"spec": spec}):
        _prepare(template, lineage, attempt, exclude, checkpoint)
    annotations = {
        name: text
        for name, text in meta.get("annotations", {}).items()
        if name not in ("kubectl.kubernetes.io/last-applied-configuration", STOPPED_FOR)
    }
    made = {
        "name": successor_name(lineage, attempt),
        "namespace": meta["namespace"],
        "labels": {**_own(meta.get("labels", {})), LINEAGE: lineage},
        "annotations": {
            **annotations,
            ATTEMPT: str(attempt),
            INCARNATION: incarnation_of(msgspec.convert(meta, Meta)),
            ACTS: acts,
        },
    }
    if owners := meta.get("ownerReferences"):
        made["ownerReferences"] = owners
    return {"apiVersion": kind.API_VERSION, "kind": kind.KIND, "metadata": made, "spec": spec}


def _prepare(template: dict[str, Any], lineage: str, attempt: int, exclude: tuple[str, ...], checkpoint: str) -> None:
    """Change a pod template into that of the next attempt."""
    meta = template.setdefault("metadata", {})
    meta.pop("creationTimestamp", None)
    meta["labels"] = {**_own(meta.get("labels", {})), ATTEMPT: str(attempt), LINEAGE: lineage}
    if "annotations" in meta:
        meta["annotations"] = _own(meta["annotations"])
    if exclude:
        template["spec"]["affinity"] = with_excluded(template["spec"].get("affinity") or {}, exclude)
    if checkpoint:
        for container in template["spec"]["containers"]:
            kept = [one for one in container.get("env", []) if one.get("name") != CHECKPOINT_VARIABLE]
            container["env"] = [*kept, {"name": CHECKPOINT_VARIABLE, "value": checkpoint}]


def _own(notes: Mapping[str, str]) -> dict[str, str]:
    """Return the labels or annotations that no controller wrote."""
    return {name: value for name, value in notes.items() if name not in _OF_THE_CONTROLLER | _OF_KUEUE}
