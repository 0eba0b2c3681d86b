"""The Job that a restart makes: as the one before, elsewhere, and the next attempt of the same job."""

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_clients.kubernetes import ACTS, ATTEMPT, LINEAGE, with_excluded

CHECKPOINT = "SCHEDMATE_CHECKPOINT"
"""Where a job that starts again finds the path of its last durable checkpoint."""
_NAMES = 63
"""Characters of a Job's name: it becomes the value of a label on its pods."""
_OF_THE_CONTROLLER = frozenset(
    {
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-name",
        "controller-uid",
        "job-name",
    }
)
"""Labels by which the Job controller knows the pods of one Job."""
_OF_KUBECTL = "kubectl.kubernetes.io/last-applied-configuration"


def successor_name(lineage: str, attempt: int) -> str:
    """Return the name of an attempt's Job. It follows from the attempt alone, so that there can be one only."""
    suffix = f"-r{attempt}"
    return lineage[: _NAMES - len(suffix)].rstrip("-.") + suffix


def successor(
    job: Mapping[str, Any], lineage: str, attempt: int, exclude: Iterable[str], acts: str, *, checkpoint: str = ""
) -> dict[str, Any]:
    """Return the manifest of the next attempt.

    Args:
        job: The Job that ended, with all its fields, as the API server sends it.
        lineage: The name of the first Job.
        attempt: The number of the new attempt.
        exclude: Nodes that it must not run on, besides those that it avoids already.
        acts: What stands in the annotation of acts.
        checkpoint: Path from which it may go on; empty where none is known.
    """
    meta = job["metadata"]
    spec = copy.deepcopy(job["spec"])
    if not spec.get("manualSelector"):
        spec.pop("selector", None)
    template = spec["template"]
    pod_meta = template.setdefault("metadata", {})
    pod_meta.pop("creationTimestamp", None)
    pod_meta["labels"] = {
        **_own(pod_meta.get("labels", {})),
        ATTEMPT: str(attempt),
        LINEAGE: lineage,
    }
    if exclude := tuple(exclude):
        template["spec"]["affinity"] = with_excluded(template["spec"].get("affinity") or {}, exclude)
    if checkpoint:
        for container in template["spec"]["containers"]:
            kept = [one for one in container.get("env", []) if one.get("name") != CHECKPOINT]
            container["env"] = [*kept, {"name": CHECKPOINT, "value": checkpoint}]
    annotations = {name: text for name, text in meta.get("annotations", {}).items() if name != _OF_KUBECTL}
    made = {
        "name": successor_name(lineage, attempt),
        "namespace": meta["namespace"],
        "labels": {**_own(meta.get("labels", {})), LINEAGE: lineage},
        "annotations": {**annotations, ATTEMPT: str(attempt), ACTS: acts},
    }
    if owners := meta.get("ownerReferences"):
        made["ownerReferences"] = owners
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": made, "spec": spec}


def _own(labels: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in labels.items() if name not in _OF_THE_CONTROLLER}
